import type { Hex } from '../hex.ts'
import { normaliseBitcoinRequest } from './bitcoin/withdrawRequest.ts'
import { normaliseEvmRequest } from './ethereum/withdrawRequest.ts'
import { normaliseHyperliquidRequest } from './hyperliquid/withdrawRequest.ts'
import { normaliseLighterRequest } from './lighter/withdrawRequest.ts'
import type { ChainNetwork } from './registry.ts'
import { normaliseSolanaRequest } from './solana/withdrawRequest.ts'
import { normaliseTronRequest } from './tron/withdrawRequest.ts'
import type { VmType } from './vmType.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from './withdrawRequestParts.ts'

/** Payload parameters of the withdrawal-initiated flow. @source oracle-protocol.md 2.1 */
export type WithdrawRequest = {
  readonly chainId: bigint
  readonly depository: string
  readonly currency: string
  readonly amount: bigint
  readonly spender: Hex
  readonly recipient: string
  readonly data: Hex
  readonly nonce: Hex
}

const families: Readonly<
  Record<VmType, (request: PlainWithdrawRequest, network?: string) => NormalisedWithdrawRequest>
> = {
  'ethereum-vm': normaliseEvmRequest,
  'solana-vm': normaliseSolanaRequest,
  'bitcoin-vm': normaliseBitcoinRequest,
  'hyperliquid-vm': normaliseHyperliquidRequest,
  'lighter-vm': normaliseLighterRequest,
  'tron-vm': normaliseTronRequest,
}

/**
 * Spells a withdrawal request as the allocator of its family expects it. What it claims about the chain is
 * for the family's reader to check.
 * @throws InvalidAddressError, InvalidWithdrawRequestError
 * @source oracle-protocol.md 3.5
 */
export function normaliseWithdrawRequest(
  chain: ChainNetwork,
  { depository, currency, recipient, additionalData }: PlainWithdrawRequest,
): NormalisedWithdrawRequest & { readonly kind: 'withdraw-request' } {
  const plain = { depository, currency, recipient, ...(additionalData !== undefined && { additionalData }) }
  return { kind: 'withdraw-request', ...families[chain.vmType](plain, chain.network) }
}
