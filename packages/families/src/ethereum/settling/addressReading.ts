import type { Hex } from '@causeway/core'
import { blocksAtPace, type QuoteChain } from '@causeway/core/config'
import { ethereumCodec } from '@causeway/core/encodings'
import type { AddressReading } from '../../shared/settlingChain.ts'
import { balanceReading } from './balanceReading.ts'
import { blockPaymentsReading } from './blockPayments.ts'
import type { Ask } from './fillRecords.ts'
import { lateBlocksOf } from './lateBlocks.ts'

/**
 * Finds payments at deposit addresses in whole blocks, and reads balances of many addresses in one call. A contract may
 * pay an address that its transaction names nowhere; therefore balances are read in turn as well (`showsAll: false`).
 * @see AddressReading for the members @param options.tokens whose transfers are searched for
 */
export function createAddressReading(options: {
  readonly ask: Ask
  readonly config: Pick<QuoteChain, 'blockTimeMs'>
  readonly multicall3: Hex
  readonly tokens: readonly Hex[]
}): AddressReading {
  const { ask, config, multicall3, tokens } = options
  return {
    needsFinal: false,
    blocks: {
      // Whole blocks are a few megabytes on the busiest chains, so a range is short. Payments before the first range
      // are found when balances are read. The counts are of blocks of two seconds: faster chains take more.
      steps: {
        rangeBlocks: blocksAtPace(config, 4n),
        rewindBlocks: blocksAtPace(config, 64n),
        firstBlocks: blocksAtPace(config, 256n),
        lateBlocks: lateBlocksOf(config),
      },
      showsAll: false,
      payments: (range, signal) => ask(blockPaymentsReading(tokens, range), signal),
    },
    held: (addresses, { currencies, height }, signal) =>
      ask(balanceReading({ multicall3, tokens: tokensOf(currencies) }, addresses.map(hexOf), height), signal),
  }
}

/** Addresses of the currencies that are tokens, in lower case; the native coin is left out. */
export function tokensOf(currencies: readonly { readonly address: string }[]): readonly Hex[] {
  const tokens = currencies.map(({ address }) => hexOf(address))
  return tokens.filter((token) => token !== ethereumCodec.nativeCurrency)
}

// CAST: a canonical address of this family is lower-case hex.
const hexOf = (address: string): Hex => ethereumCodec.canonicalAddress(address) as Hex
