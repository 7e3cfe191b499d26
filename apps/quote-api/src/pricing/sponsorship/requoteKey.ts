import { createHash } from 'node:crypto'
import type { QuoteRequest } from '../request.ts'
import type { Route } from '../route.ts'

/**
 * Equal for quotes of which a user executes one: equal key, user, recipient, chains, currencies and
 * trade type. 64 hex digits. @source design.md 6.4
 */
export function requoteKey(apiKeyId: string, route: Route, { tradeType }: QuoteRequest): string {
  const { origin, destination, currencyIn, currencyOut, user, recipient } = route
  const parts = [
    apiKeyId,
    origin.codec.canonicalAddress(user),
    destination.codec.canonicalAddress(recipient),
    currencyIn.key,
    currencyOut.key,
    tradeType,
  ]
  return createHash('sha256').update(parts.join('\n')).digest('hex')
}
