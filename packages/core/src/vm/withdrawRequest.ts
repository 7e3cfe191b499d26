import type { WithdrawRequestFacts, WithdrawRequestQuestion } from '../attestation/facts.ts'
import { normaliseBitcoinRequest } from './bitcoin/withdrawRequest.ts'
import { normaliseEvmRequest } from './ethereum/withdrawRequest.ts'
import { normaliseHyperliquidRequest } from './hyperliquid/withdrawRequest.ts'
import { normaliseLighterRequest } from './lighter/withdrawRequest.ts'
import type { ChainNetwork } from './registry.ts'
import { normaliseSolanaRequest } from './solana/withdrawRequest.ts'
import { normaliseTronRequest } from './tron/withdrawRequest.ts'
import type { VmType } from './vmType.ts'
import type { NormalisedWithdrawRequest, PlainWithdrawRequest } from './withdrawRequestParts.ts'

/** The request as a reader gets it; its amount, nonce and order are spelled alike for all families. */
type Asked = Pick<WithdrawRequestQuestion, keyof PlainWithdrawRequest>

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
  { depository, currency, recipient, additionalData }: Asked,
): Omit<WithdrawRequestFacts, 'evidence'> {
  const plain = { depository, currency, recipient, ...(additionalData !== undefined && { additionalData }) }
  return { kind: 'withdraw-request', ...families[chain.vmType](plain, chain.network) }
}
