import type { NoFillOrRefundResponse } from '@causeway/attestations'
import { noFillOrRefundDigest, noFillOrRefundEntry } from '@causeway/core'
import type { NoFillOrRefundRequest } from '../wire/requests.ts'
import { type Attest, type AttestationContext, chainOf } from './context.ts'
import { AttestationError } from './errors.ts'
import { mappingNotConfigured } from './recovery.ts'

/**
 * POST /attestations/signatures/no-fill-or-refund/v1: signs a solver's promise as an entry of the hub's generic mapping.
 * The solver must have signed it, and the entry is under the solver's own account, so it concerns no other's orders.
 * @source rules P-123, P-126
 */
export const attestNoFillOrRefund: Attest<NoFillOrRefundRequest, NoFillOrRefundResponse> = async (
  request,
  context,
) => {
  if (context.hub.mappingDomain === undefined) throw mappingNotConfigured()
  const { solverChainId, solver, orderId, signature } = request
  const promise = { solverChainId, solver, orderId }
  const digest = noFillOrRefundDigest(promise, evmChainId(solverChainId, context))
  if (context.recoverSigner(digest, signature) !== solver) {
    throw new AttestationError('INVALID_SOLVER_SIGNATURE', 'The solver did not sign this promise.')
  }
  return {
    unsigned: { genericMapping: { ...noFillOrRefundEntry(promise), signatures: [] } },
    evidence: [],
    // Not cached: it needed no reading of a chain, and cached answers should be those that did.
    isFinal: false,
  }
}

/** Number of the solver's EVM chain, which may be the hub. @throws AttestationError for a chain of another family */
function evmChainId(solverChainId: string, context: Pick<AttestationContext, 'chains' | 'hub'>): number {
  if (solverChainId === context.hub.id) return context.hub.executionDomain.chainId
  const { vmType, hubChainId } = chainOf(context, solverChainId)
  const number = Number(hubChainId)
  if (vmType === 'ethereum-vm' && Number.isSafeInteger(number)) return number
  throw new AttestationError(
    'SOLVER_CHAIN_NOT_SUPPORTED',
    `solverChainId must name an EVM chain: solvers sign promises there, and ${solverChainId} is none.`,
    { data: { field: 'solverChainId', solverChainId } },
  )
}
