import type { GasShape } from './snapshot.ts'

export const gasUnits: Readonly<Record<GasShape, bigint>> = {
  approve: 60_000n,
  'deposit-native': 60_000n,
  'deposit-erc20': 100_000n,
  swap: 200_000n,
  'swap-deposit': 300_000n,
  wrap: 60_000n,
  unwrap: 50_000n,
  'send-native': 21_000n,
  'send-erc20': 70_000n,
  'fill-native': 80_000n,
  'fill-erc20': 110_000n,
  'fill-swap': 300_000n,
  'fill-topup': 45_000n,
  'refund-native': 80_000n,
  'refund-erc20': 110_000n,
}
