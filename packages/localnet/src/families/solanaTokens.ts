import { token2022Program, tokenProgram } from '@causeway/families/rules'

export type SolanaTokenSymbol = 'USDC' | 'WETH'

/** A mint of the local cluster. */
export type LocalMint = {
  readonly symbol: SolanaTokenSymbol
  readonly name: string
  /** Asset in the quote file. */
  readonly asset: string
  readonly decimals: number
  /** Token program of the mint and of its holders' accounts. */
  readonly program: string
  /** Follows from `mintSeedText`, so that it is equal on every machine. */
  readonly address: string
}

/** One mint of each token program. Neither takes a fee of a transfer. */
export const localMints: Readonly<Record<SolanaTokenSymbol, LocalMint>> = {
  USDC: {
    symbol: 'USDC',
    name: 'USD Coin',
    asset: 'usdc',
    decimals: 6,
    program: tokenProgram,
    address: '2v5vYmXJ8MgNbAgJFSz2oUpXPEoes1UY3Byv7TYBkVi5',
  },
  WETH: {
    symbol: 'WETH',
    name: 'Wrapped Ether',
    asset: 'eth',
    decimals: 9,
    program: token2022Program,
    address: 'DDyuEND2AttSG8vECgsppnh6MzkYfhMKFUWyhv1KHFBe',
  },
}

export const localMintList: readonly LocalMint[] = [localMints.USDC, localMints.WETH]

/** The SHA-256 of this text is the seed of the mint's key, which signs once: when the mint is made. */
export function mintSeedText(symbol: SolanaTokenSymbol): string {
  return `causeway local network: solana mint ${symbol}`
}

/** Time between blocks of the local cluster. */
export const solanaBlockTimeMs = 200
