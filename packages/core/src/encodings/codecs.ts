import { bitcoinCodecOf } from './bitcoin.ts'
import { ethereumCodec } from './ethereum.ts'
import { hyperliquidCodec } from './hyperliquid.ts'
import { lighterCodec } from './lighter.ts'
import { solanaCodec } from './solana.ts'
import { tronCodec } from './tron.ts'
import type { VmCodec } from './vmCodec.ts'

/**
 * Codec of each VM family, by the name of one of its networks. Descriptions of fields list families in this order.
 * Each throws ConfigurationError when the family has no network of that name.
 * @source rule F-167
 */
const codecs = {
  'ethereum-vm': () => ethereumCodec,
  'solana-vm': () => solanaCodec,
  'bitcoin-vm': bitcoinCodecOf,
  'hyperliquid-vm': () => hyperliquidCodec,
  'lighter-vm': () => lighterCodec,
  'tron-vm': () => tronCodec,
} as const satisfies Readonly<Record<string, (network: string | undefined) => VmCodec>>

export type VmType = keyof typeof codecs

// CAST: keys of the record itself.
export const vmTypes = Object.keys(codecs) as readonly VmType[]

/** A chain's VM family and, where the family's networks spell addresses differently, its network. */
export type ChainNetwork = {
  readonly vmType: VmType
  /** A chain's `additionalData.network`; `undefined` for the main network. */
  readonly network: string | undefined
}

export function mainNetwork(vmType: VmType): ChainNetwork {
  return { vmType, network: undefined }
}

/**
 * The codec of a chain. Rules get codecs only here, so that none reads addresses of another network.
 * @throws ConfigurationError when the family has no network of that name
 */
export function codecOf({ vmType, network }: ChainNetwork): VmCodec {
  return codecs[vmType](network)
}
