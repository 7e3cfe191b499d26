import { blockedWallet, type DenyList, isDenied } from '@causeway/chains'
import type { VmCodec } from '@causeway/core/encodings'
import type { FillRequest } from './signedOrder.ts'
import { refuse, type SeenDeposit, type Verdict } from './verdict.ts'

/** The solver does not know the API key of a request, so only the list's part for everybody applies. */
const noApiKey = undefined

/** Refusal of a denied account. By its first words quote-api parks the request and refunds nothing by itself. */
export const deniedVerdict: Verdict = refuse(`${blockedWallet}: an account is on the list of this solver`)

/**
 * True if a payment would reach an account that the list denies: a payee, a called contract, or the recipient of what
 * calls leave over. Transfers inside calls are not seen. Pure.
 */
export function paysDenied(
  list: DenyList | undefined,
  { payments, calls, recipient }: Pick<FillRequest, 'payments' | 'calls' | 'recipient'>,
  codec: Pick<VmCodec, 'spellAddress'>,
): boolean {
  if (list === undefined) return false
  const accounts = [
    ...payments.map((payment) => payment.recipient),
    ...calls.map(({ to }) => to),
    ...(recipient === undefined ? [] : [recipient]),
  ]
  return accounts.some((account) => isDenied(list, codec, account, noApiKey))
}

/** True if the money came in the name of an account that the list denies. Pure. */
export function isFromDenied(list: DenyList | undefined, deposit: SeenDeposit | undefined): boolean {
  return list !== undefined && deposit !== undefined && list.denies(deposit.depositor, noApiKey)
}
