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
  solana: 792_703_809,
  bitcoin: 8_253_038,
  tron: 728_126_428,
  hyperliquid: 1_337,
  lighter: 3_586_256,
}

const nativeCurrencies: Readonly<Record<FamilyKey, string>> = {
  solana: solanaCodec.nativeCurrency,
  bitcoin: createBitcoinCodec().nativeCurrency,
  tron: createTronCodec().nativeCurrency,
  hyperliquid: hyperliquidCodec.nativeCurrency,
  lighter: lighterCodec.nativeCurrency,
}

/** Addresses of the currencies that users pay with on each chain, by symbol. */
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

/** Variable with the public key of the fill wallet on Bitcoin, of which deposit addresses are made. */
export const bitcoinKeyVariable = 'BITCOIN_FILL_WALLET_PUBLIC_KEY'
/** Variable of the solver file with the output at which the solver's line of payments on Bitcoin begins. */
export const firstOutputVariable = 'BITCOIN_FIRST_OUTPUT'

/** Time between blocks while a transaction is not final yet, and while the chain is idle. */
export const bitcoinBlockTimeMs = 2_000
export const bitcoinIdleBlockMs = 30_000
/** Fee of a transfer to another owner's account on Lighter, in smallest units: 3 USDC. */
export const lighterTransferFee = 3_000_000n

/** Fields that the quote file repeats in every currency that the solver keeps. */
type InventoryFields = {
  /** Fields of a native currency. */
  readonly native: object
  /** Fields of a token. */
  readonly token: object
  readonly source: string
}

/** Entries of `quote.local.json` for the chains of the other families. @param addressProgram Solana's deposit addresses */
export function familyQuoteChains(
  tron: TronDeployment,
  addressProgram: string,
  { native, token, source }: InventoryFields,
): Readonly<Record<FamilyKey, object>> {
  const tokens = familyTokens(tron)
  const usdc = { symbol: 'USDC', name: 'USD Coin', decimals: 6, asset: 'usdc', ...token, source }
  const chain = (key: FamilyKey, displayName: string, pinDepth: object = { finalized: true }) => ({
    chainId: familyChainIds[key],
    name: key,
    displayName: `${displayName} (local)`,
    iconUrl: localPicture(displayName),
    fillWallet: `$${fillWalletVariable(key)}`,
    pinPolicy: [pinDepth],
  })
  const coin = (key: FamilyKey) => ({ address: nativeCurrencies[key], ...native, source: 'native currency' })
  return {
    solana: {
      ...chain('solana', 'Solana'),
      blockTimeMs: solanaBlockTimeMs,
      headMaxAgeMs: 15_000,
      feeModel: { kind: 'priority-fee' },
      depositAddressProgram: addressProgram,
      currencies: [
        { ...coin('solana'), symbol: 'SOL', name: 'Solana', decimals: 9, asset: 'sol' },
        ...localMintList.map(({ address, symbol, name, decimals, asset, program }) => ({
          address,
          symbol,
          name,
          decimals,
          asset,
          ...token,
          source,
          ...(program !== tokenProgram && { tokenProgram: program }),
        })),
      ],
    },
    bitcoin: {
      ...chain('bitcoin', 'Bitcoin', { confirmations: 1 }),
      blockTimeMs: bitcoinBlockTimeMs,
      headMaxAgeMs: 4 * bitcoinIdleBlockMs,
      feeModel: { kind: 'feerate' },
      depositAddressKey: `$${bitcoinKeyVariable}`,
      currencies: [{ ...coin('bitcoin'), symbol: 'BTC', name: 'Bitcoin', decimals: 8, asset: 'btc' }],
    },
    tron: {
      ...chain('tron', 'Tron'),
      blockTimeMs: 2_000,
      headMaxAgeMs: 15_000,
      feeModel: { kind: 'energy' },
      fillContract: tron.fillContract,
      currencies: [
        { ...coin('tron'), symbol: 'TRX', name: 'TRON', decimals: 6, asset: 'trx' },
        { address: tokens.tron['USDC'], ...usdc },
      ],
    },
    hyperliquid: {
      ...chain('hyperliquid', 'Hyperliquid'),
      blockTimeMs: 1_000,
      headMaxAgeMs: 15_000,
      feeModel: { kind: 'flat' },
      currencies: [{ address: tokens.hyperliquid['USDC'], ...usdc, decimals: 8 }],
    },
    lighter: {
      ...chain('lighter', 'Lighter'),
      blockTimeMs: 1_000,
      headMaxAgeMs: 15_000,
      feeModel: { kind: 'flat', transferFee: lighterTransferFee.toString() },
      currencies: [{ address: tokens.lighter['USDC'], ...usdc }],
    },
  }
}
