import type { VmCodec, VmType } from '@causeway/core/encodings'
import { families } from '@causeway/families/rules'
import { QuoteError } from '../errors.ts'

/** A chain as far as a fee payer depends on it. */
export type FeePayerChain = { readonly chainId: number; readonly vmType: VmType; readonly codec: VmCodec }

const served = Object.values(families)
  .filter(({ takesDepositFeePayer }) => takesDepositFeePayer)
  .map(({ name }) => name)
  .join(' and ')

export type FeePayer = {
  /** Pays the deposit's transaction fee and origin rent; nothing of it touches a balance. */
  readonly account: string
  /** On one chain a user can turn the payer's rent into their own: worth a warning. */
  readonly isExploitable: boolean
}

/**
 * The account that pays the network for the deposit, on families where another than the sender can.
 * @throws QuoteError INVALID_ADDRESS for the user, a malformed account, or an origin of another family
 * @source quote-and-sponsorship.md, Solana rules
 */
export function depositFeePayer(args: {
  readonly account: string
  readonly user: string
  readonly origin: FeePayerChain
  readonly destinationChainId: number
}): FeePayer {
  const { account, user, origin, destinationChainId } = args
  if (account === user) throw refusedFeePayer('it must differ from user')
  const { takesDepositFeePayer, name } = families[origin.vmType]
  if (!takesDepositFeePayer) throw refusedFeePayer(`it serves ${served} origins only`)
  if (!origin.codec.isAddress(account)) throw refusedFeePayer(`it is not a ${name} account`)
  return { account, isExploitable: origin.chainId === destinationChainId }
}

/** A payer that is not taken. */
export function refusedFeePayer(reason: string): QuoteError {
  return new QuoteError('INVALID_ADDRESS', `depositFeePayer is not allowed: ${reason}.`, {
    data: { field: 'depositFeePayer' },
  })
}
