import { isIP } from 'node:net'
import { ConfigurationError } from '@causeway/core'
import { listEntries } from '@causeway/core/config'

/**
 * Reads a comma-separated list of proxies (addresses and CIDR ranges) whose `x-forwarded-for` is trusted. Fastify would
 * also accept `true`, hop counts and ranges that cover all addresses. They are refused, because a caller could then
 * choose the address that limits count it by. An empty list trusts no proxy.
 * @throws ConfigurationError naming the entry
 */
export function parseTrustedProxies(value: string, setting = 'TRUSTED_PROXIES'): readonly string[] {
  return listEntries(setting, value, ',').map(({ text, entryName: place }) => {
    if (isRange(text)) return text
    throw new ConfigurationError(`${place} must be an address or a CIDR range, e.g. 10.0.0.0/8.`)
  })
}

function isRange(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/')
  const family = isIP(address)
  if (family === 0 || rest.length > 0) return false
  if (prefix === undefined) return true
  if (!/^[0-9]{1,3}$/.test(prefix)) return false
  return Number(prefix) >= 1 && Number(prefix) <= (family === 4 ? 32 : 128)
}
