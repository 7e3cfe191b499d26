import type { Hex } from '@causeway/core'
import { signingDigest } from '@causeway/families/rules'
import type { AttestationContext } from '../context.ts'
import { AttestationError } from '../errors.ts'

/**
 * Checks that the solver signed the order's id with EIP-191.
 * @throws AttestationError
 * @source rule P-128
 */
export function checkOrderSignature(
  signed: { readonly solver: string; readonly orderId: Hex; readonly signature: Hex },
  { recoverSigner }: Pick<AttestationContext, 'recoverSigner'>,
): void {
  const digest = signingDigest({ purpose: 'order', orderId: signed.orderId })
  if (recoverSigner(digest, signed.signature) === signed.solver.toLowerCase()) return
  throw new AttestationError('INVALID_ORDER_SIGNATURE', "The order's solver did not sign it.")
}
