import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All that is routed. The library takes what is in no registry for an address like any other. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * True if an address is reachable over the internet and not internal: it is in none of IANA's special-purpose
 * registries. IPv6 is allowed only where it is globally routed, so that no spelling of an IPv4 address gets by.
 * @param address IPv4 or IPv6 text, without brackets; any other text is not public
 */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const parsed = ipaddr.parse(address)
  return parsed.range() === 'unicast' && (!(parsed instanceof ipaddr.IPv6) || parsed.match(globalIpv6))
}

/** The address that a URL names literally, without brackets; `undefined` where it names a host. */
export function literalAddress({ hostname }: URL): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(text) === 0 ? undefined : text
}
