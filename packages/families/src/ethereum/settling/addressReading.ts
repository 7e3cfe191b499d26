import type { Hex } from '@causeway/core'
import { blocksAtPace, type QuoteChain } from '@causeway/core/config'
import { ethereumCodec } from '@causeway/core/encodings'
import type { AddressReading } from '../../shared/settlingChain.ts'
import { balanceReading } from './balanceReading.ts'
import { blockPaymentsReading } from './blockPayments.ts'
import type { Ask } from './fillRecords.ts'
import { lateBlocksOf } from './lateBlocks.ts'

/**
 * Payments at addresses as blocks tell them, and their balances by one call of many. A payment by a contract may name
 * its address nowhere, so that addresses are looked at in turn all the same.
 * @param options.tokens that blocks are searched for
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
      // Whole blocks are a few megabytes on the busiest chains, and smaller the faster they come. What lies below the
      // first look is found as balances are read in turn.
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

/** Currencies that contracts keep, as 20 bytes of lower-case hex. */
export function tokensOf(currencies: readonly { readonly address: string }[]): readonly Hex[] {
  const tokens = currencies.map(({ address }) => hexOf(address))
  return tokens.filter((token) => token !== ethereumCodec.nativeCurrency)
}

// CAST: a canonical address of this family is lower-case hex.
const hexOf = (address: string): Hex => ethereumCodec.canonicalAddress(address) as Hex
