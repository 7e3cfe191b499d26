import { ConfigurationError } from '@causeway/core'
import type { RegisteredChain } from '../../shared/registeredChain.ts'

/** Blocks that must stand, the transaction's own included. */
export type Confirmations = bigint

/** Finality of the public protocol's oracles on Bitcoin, for a chain whose settings have none. @source rule O-147 */
const defaultConfirmations = 4

/** Confirmations by the chain's setting, at least one. @throws ConfigurationError for a mode of other families */
export function confirmationsOf(
  chain: Pick<RegisteredChain, 'id' | 'finality' | 'additionalData'>,
): Confirmations {
  const { finality, additionalData, id } = chain
  if (finality !== undefined && finality.mode !== 'depth') {
    throw new ConfigurationError(`chains: ${id}.finality: Bitcoin has the mode depth alone`)
  }
  return BigInt(Math.max(finality?.blocks ?? additionalData.finalizationBlocks ?? defaultConfirmations, 1))
}

/** The finality rule as an attestation's evidence names it. */
export function describeFinality(confirmations: Confirmations): string {
  return `${confirmations} confirmations`
}

/** Newest height with that many confirmations. @param tipHeight that enough endpoints have reached */
export function finalHeight(tipHeight: bigint, confirmations: Confirmations): bigint {
  return tipHeight - confirmations + 1n
}

const secondsPerBlock = 600n

/**
 * Seconds that a caller should wait before asking again: the ten minutes that one block takes on average, however many
 * blocks are missing; one second if none is.
 */
export function secondsToFinality(blocksLeft: bigint): number {
  return blocksLeft < 1n ? 1 : Number(secondsPerBlock)
}
