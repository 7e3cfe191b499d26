import type { VmType } from '../chain/vmType.ts'
import { createBitcoinCodec } from './bitcoin/codec.ts'
import { ethereumCodec } from './ethereum/codec.ts'
import { hyperliquidCodec } from './hyperliquid/codec.ts'
import { lighterCodec } from './lighter/codec.ts'
import { solanaCodec } from './solana/codec.ts'
import { createTronCodec } from './tron/codec.ts'
import type { VmCodec } from './vmCodec.ts'

/** The codec of every family, for main networks. */
export const vmCodecs: Readonly<Record<VmType, VmCodec>> = {
  'ethereum-vm': ethereumCodec,
  'solana-vm': solanaCodec,
  'bitcoin-vm': createBitcoinCodec(),
  'hyperliquid-vm': hyperliquidCodec,
  'lighter-vm': lighterCodec,
  'tron-vm': createTronCodec(),
}
