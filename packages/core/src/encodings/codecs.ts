import { bitcoinNetworkOf, bitcoinNetworks, createBitcoinCodec } from './bitcoin.ts'
import { ethereumCodec } from './ethereum.ts'
import { hyperliquidCodec } from './hyperliquid.ts'
import { lighterCodec } from './lighter.ts'
import { solanaCodec } from './solana.ts'
import { createTronCodec } from './tron.ts'
import type { VmCodec } from './vmCodec.ts'
import type { VmType } from './vmType.ts'

/** Which family a chain is of and, where the family's networks spell addresses differently, which network. */
export type ChainNetwork = {
  readonly vmType: VmType
  /** A chain's `additionalData.network`; `undefined` for the main network. */
  readonly network: string | undefined
}

export function mainNetwork(vmType: VmType): ChainNetwork {
  return { vmType, network: undefined }
}

const tronCodec = createTronCodec()
const bitcoinCodecs = new Map(
  Object.values(bitcoinNetworks).map((network) => [network, createBitcoinCodec(network)]),
)

/** One line per family. Each throws ConfigurationError when the family has no network of that name. */
const codecs: Readonly<Record<VmType, (network: string | undefined) => VmCodec>> = {
  'ethereum-vm': () => ethereumCodec,
  'solana-vm': () => solanaCodec,
  'bitcoin-vm': (name) => {
    const network = bitcoinNetworkOf(name)
    return bitcoinCodecs.get(network) ?? createBitcoinCodec(network)
  },
  'hyperliquid-vm': () => hyperliquidCodec,
  'lighter-vm': () => lighterCodec,
  'tron-vm': () => tronCodec,
}

/**
 * The codec of a chain: the only way from a chain to a codec, so that no rule reads the addresses of
 * another network. @throws ConfigurationError when the family has no network of that name
 */
export function codecOf({ vmType, network }: ChainNetwork): VmCodec {
  return codecs[vmType](network)
}
