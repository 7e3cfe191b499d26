import { type FactsReader, UnknownChainError } from '@causeway/core'
import { AttestationError } from '../attestations/errors.ts'

/**
 * The reader that rules ask. @throws UnknownChainError; AttestationError `CHAIN_UNAVAILABLE` for a chain
 * that is listed but cannot be read
 */
export function findReader(
  chains: ReadonlyMap<string, unknown>,
  open: ReadonlyMap<string, { readonly reader: FactsReader }>,
  chainId: string,
): FactsReader {
  const found = open.get(chainId)
  if (found !== undefined) return found.reader
  if (!chains.has(chainId)) throw new UnknownChainError(chainId)
  throw new AttestationError('CHAIN_UNAVAILABLE', `Chain ${chainId} has no endpoint configured here.`, {
    data: { chainId },
  })
}
