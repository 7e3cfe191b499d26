import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** All globally routed IPv6. Needed beside the library's ranges, which take unregistered addresses for ordinary unicast. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * True if an address is on the internet and not internal, so that a webhook cannot reach the operator's own network. It
 * must be in none of IANA's special-purpose registries. IPv6 must be globally routed, so that no IPv6 spelling of an
 * internal IPv4 address passes.
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
