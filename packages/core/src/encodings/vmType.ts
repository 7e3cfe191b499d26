/** The six families of chains. @source attestation-oracle.md, What the service does, 4 */
export const vmTypes = [
  'ethereum-vm',
  'solana-vm',
  'bitcoin-vm',
  'hyperliquid-vm',
  'lighter-vm',
  'tron-vm',
] as const

export type VmType = (typeof vmTypes)[number]

/** Short names of the families in the public chain list. @source quote-api.md 3.2 */
export const publicVmNames = ['bvm', 'evm', 'svm', 'tvm', 'hypevm', 'lvm'] as const

export type PublicVmName = (typeof publicVmNames)[number]
