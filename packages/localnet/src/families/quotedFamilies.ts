import {
  createBitcoinCodec,
  createTronCodec,
  hyperliquidCodec,
  lighterCodec,
  solanaCodec,
  tronAddress,
} from '@causeway/core/encodings'
import { tokenProgram } from '@causeway/families/rules'
import type { TronDeployment } from '../contracts/deployment.ts'
import type { FamilyKey } from './familyPlans.ts'
import { localPicture } from './localPicture.ts'
import { localMintList, localMints, solanaBlockTimeMs } from './solanaTokens.ts'

/** The numbers that public clients know these chains by. */
export const familyChainIds: Readonly<Record<FamilyKey, number>> = {
  ...{ solana: 792_703_809, bitcoin: 8_253_038, tron: 728_126_428 },
  ...{ hyperliquid: 1_337, lighter: 3_586_256 },
}

const nativeCurrencies: Readonly<Record<FamilyKey, string>> = {
  solana: solanaCodec.nativeCurrency,
  bitcoin: createBitcoinCodec().nativeCurrency,
  tron: createTronCodec().nativeCurrency,
  hyperliquid: hyperliquidCodec.nativeCurrency,
  lighter: lighterCodec.nativeCurrency,
}

/** Currencies that are quoted there, by symbol; of native ones those that users pay with. */
export function familyTokens({ usdc }: TronDeployment): Readonly<Record<FamilyKey, Record<string, string>>> {
  const { bitcoin, hyperliquid, lighter, tron } = nativeCurrencies
  return {
    solana: { USDC: localMints.USDC.address, WETH: localMints.WETH.address },
    bitcoin: { BTC: bitcoin },
    tron: { TRX: tron, USDC: tronAddress(usdc) },
    hyperliquid: { USDC: hyperliquid },
    lighter: { USDC: lighter },
  }
}

/** Variable that names the solver's account on a chain, as quote files take it. */
export function fillWalletVariable(key: FamilyKey): string {
  return `${key.toUpperCase()}_FILL_WALLET_ADDRESS`
}

/** Public key of that account on Bitcoin, which deposit addresses are made of. */
export const bitcoinKeyVariable = 'BITCOIN_FILL_WALLET_PUBLIC_KEY'
/** The output that the solver's line of payments on Bitcoin begins with, in the solver file. */
export const firstOutputVariable = 'BITCOIN_FIRST_OUTPUT'

/** Blocks follow a transaction so soon, those that make it final too; an idle chain has one now and then. */
export const bitcoinBlockTimeMs = 2_000
export const bitcoinIdleBlockMs = 30_000
/** Fee of a transfer to somebody else at the exchange. */
export const lighterTransferFee = 3_000_000n

type Held = {
  /** Members of a currency of one chain, and of one that several have. */
  readonly native: object
  readonly token: object
  readonly source: string
}

/** Entries of `quote.local.json`. @param held what it says of currencies that the solver keeps there */
export function familyQuoteChains(
  tron: TronDeployment,
  addressProgram: string,
  { native, token, source }: Held,
): Readonly<Record<FamilyKey, object>> {
  const tokens = familyTokens(tron)
  const usdc = { symbol: 'USDC', name: 'USD Coin', decimals: 6, asset: 'usdc', ...token, source }
  const chain = (key: FamilyKey, displayName: string, depth: object = { finalized: true }) => ({
    ...{ chainId: familyChainIds[key], name: key, displayName: `${displayName} (local)` },
    iconUrl: localPicture(displayName),
    ...{ fillWallet: `$${fillWalletVariable(key)}`, pinPolicy: [depth] },
  })
  const coin = (key: FamilyKey) => ({ address: nativeCurrencies[key], ...native, source: 'native currency' })
  return {
    solana: {
      ...chain('solana', 'Solana'),
      ...{ blockTimeMs: solanaBlockTimeMs, headMaxAgeMs: 15_000, feeModel: { kind: 'priority-fee' } },
      depositAddressProgram: addressProgram,
      currencies: [
        { ...coin('solana'), symbol: 'SOL', name: 'Solana', decimals: 9, asset: 'sol' },
        ...localMintList.map(({ address, symbol, name, decimals, asset, program }) => ({
          ...{ address, symbol, name, decimals, asset, ...token, source },
          ...(program !== tokenProgram && { tokenProgram: program }),
        })),
      ],
    },
    bitcoin: {
      ...chain('bitcoin', 'Bitcoin', { confirmations: 1 }),
      ...{ blockTimeMs: bitcoinBlockTimeMs, headMaxAgeMs: 4 * bitcoinIdleBlockMs },
      ...{ feeModel: { kind: 'feerate' }, depositAddressKey: `$${bitcoinKeyVariable}` },
      currencies: [{ ...coin('bitcoin'), symbol: 'BTC', name: 'Bitcoin', decimals: 8, asset: 'btc' }],
    },
    tron: {
      ...chain('tron', 'Tron'),
      ...{ blockTimeMs: 2_000, headMaxAgeMs: 15_000, feeModel: { kind: 'energy' } },
      fillContract: tron.fillContract,
      currencies: [
        { ...coin('tron'), symbol: 'TRX', name: 'TRON', decimals: 6, asset: 'trx' },
        { address: tokens.tron['USDC'], ...usdc },
      ],
    },
    hyperliquid: {
      ...chain('hyperliquid', 'Hyperliquid'),
      ...{ blockTimeMs: 1_000, headMaxAgeMs: 15_000, feeModel: { kind: 'flat' } },
      currencies: [{ address: tokens.hyperliquid['USDC'], ...usdc, decimals: 8 }],
    },
    lighter: {
      ...chain('lighter', 'Lighter'),
      ...{ blockTimeMs: 1_000, headMaxAgeMs: 15_000 },
      feeModel: { kind: 'flat', transferFee: lighterTransferFee.toString() },
      currencies: [{ address: tokens.lighter['USDC'], ...usdc }],
    },
  }
}
