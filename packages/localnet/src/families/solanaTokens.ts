import { token2022Program, tokenProgram } from '@causeway/core'

/** @source quote-api.md 1: the chain id that public clients know Solana by */
export const solanaChainId = 792_703_809

export type SolanaTokenSymbol = 'USDC' | 'WETH'

/** A mint of the local cluster. */
export type LocalMint = {
  readonly symbol: SolanaTokenSymbol
  readonly name: string
  /** Of the quote file. */
  readonly asset: string
  readonly decimals: number
  /** What keeps it and the accounts of its holders. */
  readonly program: string
  /** Follows from `mintSeedText`, so that every machine has the same; it depends on no key of one. */
  readonly address: string
}

/** One of each token program. Neither keeps a part of what is transferred. */
export const localMints: Readonly<Record<SolanaTokenSymbol, LocalMint>> = {
  USDC: {
    ...{ symbol: 'USDC', name: 'USD Coin', asset: 'usdc', decimals: 6, program: tokenProgram },
    address: '2v5vYmXJ8MgNbAgJFSz2oUpXPEoes1UY3Byv7TYBkVi5',
  },
  WETH: {
    ...{ symbol: 'WETH', name: 'Wrapped Ether', asset: 'eth', decimals: 9, program: token2022Program },
    address: 'DDyuEND2AttSG8vECgsppnh6MzkYfhMKFUWyhv1KHFBe',
  },
}

export const localMintList: readonly LocalMint[] = [localMints.USDC, localMints.WETH]

/** Its SHA-256 is the seed of the mint's key, which signs once: when the mint is made. */
export function mintSeedText(symbol: SolanaTokenSymbol): string {
  return `causeway local network: solana mint ${symbol}`
}

/** Variable that names the solver's account there, as quote files take it. */
export const solanaFillWalletVariable = 'SOLANA_FILL_WALLET_ADDRESS'

/** Entry of `quote.local.json`. @param held what it says of currencies that the solver keeps there */
export function solanaQuoteChain(held: {
  readonly addressProgram: string
  readonly native: object
  readonly token: object
  readonly source: string
}): object {
  return {
    chainId: solanaChainId,
    name: 'solana',
    displayName: 'Solana (local)',
    blockTimeMs: solanaBlockTimeMs,
    headMaxAgeMs: 15_000,
    fillWallet: `$${solanaFillWalletVariable}`,
    depositAddressProgram: held.addressProgram,
    feeModel: { kind: 'priority-fee' },
    pinPolicy: [{ confirmations: 1 }],
    currencies: [
      {
        ...{ address: '1'.repeat(32), symbol: 'SOL', name: 'Solana', decimals: 9, asset: 'sol' },
        ...held.native,
        source: 'native currency',
      },
      ...localMintList.map(({ address, symbol, name, decimals, asset, program }) => ({
        ...{ address, symbol, name, decimals, asset },
        ...held.token,
        ...(program !== tokenProgram && { tokenProgram: program }),
        source: held.source,
      })),
    ],
  }
}

/** A block of the local cluster follows the last one so much later. */
export const solanaBlockTimeMs = 400
