/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The lists of meters, hooks and drivers: nothing else in lib/ names any. BPF programs and the C
 * program both include it.
 */
#ifndef NICPROBE_REGISTRY_H
#define NICPROBE_REGISTRY_H

/* Every meter, in the order of output. A new meter is one line here. */
#define PACKET_METERS(M)	/* xdp/: look at packets */	\
	M(pktsize)						\
	M(ecn)							\
	M(ecn_source)						\
	M(rxcpu)						\
	M(flow)							\
	M(gso)							\
	M(offload)
#define OTHER_METERS(M)		/* bpf/: follow events, or read what others count */	\
	M(irq)							\
	M(napi)							\
	M(gro)							\
	M(xdp)							\
	M(pool)							\
	M(qdisc)						\
	M(bql)							\
	M(txlat)						\
	M(drop)							\
	M(xsk)							\
	M(ledger)						\
	M(hwstat)						\
	M(counters)						\
	M(devlink)						\
	M(skblife)						\
	M(wifi)							\
	M(station)						\
	M(driver)
#define HOST_METERS(M)		/* bpf/: of the sockets of a network namespace */	\
	M(connect)						\
	M(accept)						\
	M(backlog)						\
	M(session)						\
	M(tcp)							\
	M(neigh)						\
	M(sockmem)						\
	M(tcpwait)						\
	M(open)							\
	M(dns)							\
	M(dnsname)						\
	M(sock)							\
	M(icmp)							\
	M(fdpass)						\
	M(firstbyte)						\
	M(lookup)						\
	M(socklife)
#define METERS(M) PACKET_METERS(M) OTHER_METERS(M) HOST_METERS(M)

/* Every hook; for each point, the best one first. A new hook is one word here. */
#define HOOKS(H) H(xdp) H(driver_rx) H(xdp_generic) H(tc) H(stack_rx) H(xmit)

/* Every driver. A new one is a file and a line here. */
#define DRIVERS(D)						\
	D(ena) D(ixgbevf) D(iwlwifi) D(virtio_net) D(e1000)	\
	D(e1000e) D(igb) D(igbvf) D(vmxnet3) D(ixgbe) D(i40e)	\
	D(iavf) D(ice) D(mlx5_core) D(gve) D(hv_netvsc)		\
	D(veth) D(tun) D(loopback) D(bridge) D(bonding)		\
	D(vlan) D(macvlan) D(vxlan) D(netkit) D(dummy) D(ifb)

#endif
