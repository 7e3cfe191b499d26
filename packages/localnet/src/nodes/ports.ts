import { portsRefusedByFetch } from '@causeway/core/config'
import { canListen } from '@causeway/database'

const portMax = 65_535

/**
 * The first port from `first` on that nothing on this machine listens on, and that clients can ask.
 * @param usedPorts ports that are reserved, although nobody listens on them yet
 * @throws Error when there is none
 */
export async function nextFreePort(
  first: number,
  usedPorts: ReadonlySet<number> = new Set(),
): Promise<number> {
  for (let port = first; port <= portMax; port += 1) {
    if (usedPorts.has(port) || portsRefusedByFetch.has(port)) continue
    if (await isFreePort(port)) return port
  }
  throw new Error(`no free port from ${first} on`)
}

/** Several ports, each the next free one after its own first choice. */
export async function nextFreePorts(firsts: readonly number[]): Promise<readonly number[]> {
  const chosen = new Set<number>()
  for (const first of firsts) chosen.add(await nextFreePort(first, chosen))
  return [...chosen]
}

/**
 * True when nothing on this machine listens there. Both addresses are tried: a process that listens on all
 * interfaces may leave loopback open to a second listener.
 */
export async function isFreePort(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, '0.0.0.0'))
}
