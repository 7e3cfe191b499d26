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
