import type { VmType } from '@causeway/core'

/** Short family names of the public chain list. @source quote-api.md 3.2 */
export const vmNames = {
  'bitcoin-vm': 'bvm',
  'ethereum-vm': 'evm',
  'solana-vm': 'svm',
  'tron-vm': 'tvm',
  'hyperliquid-vm': 'hypevm',
  'lighter-vm': 'lvm',
} as const satisfies Record<VmType, string>
