import {
  type Evidence,
  type Hex,
  hubAlias,
  hubTokenId,
  type ReadOptions,
  withdrawalAddress,
} from '@causeway/core'
import { isSignedByOwner } from '@causeway/families/rules'
import type { WithdrawalFlowRequest } from '../wire/requests.ts'
import { type AttestationContext, type AttestedChain, chainOf, protocolChain } from './context.ts'
import { requestedDepository } from './depositories.ts'
import { AttestationError } from './errors.ts'

/** A withdrawal that its owner has signed for, with its accounts on the hub. All withdrawal routes with an owner use it. */
export type AuthorisedWithdrawal = {
  readonly chain: AttestedChain
  readonly depository: string
  readonly amount: bigint
  readonly nonce: bigint
  readonly hubTokenId: bigint
  /** The owner's account on the hub. */
  readonly spender: Hex
  /** The account on the hub that holds what this withdrawal takes out. */
  readonly withdrawalAddress: Hex
  /** Evidence that the owner's code accepted the signature; empty where a key signed. */
  readonly evidence: readonly Evidence[]
}

type OwnerContext = Pick<AttestationContext, 'chains' | 'recoverSigner' | 'readerOf'>

/**
 * Checks the owner's signature of the request, and derives the accounts on the hub.
 * @throws AttestationError, UnknownChainError, InvalidAddressError, what reading an owner's key or code throws
 * @source rule P-80
 */
export async function authoriseWithdrawal(
  request: WithdrawalFlowRequest,
  context: OwnerContext,
  options: ReadOptions,
): Promise<AuthorisedWithdrawal> {
  const chain = chainOf(context, request.chainId)
  const ownerChain = chainOf(context, request.ownerChainId)
  const evidence = await checkOwnerSignature({ request, ownerChain, context, options })
  const amount = BigInt(request.amount)
  if (amount === 0n) throw new AttestationError('ZERO_AMOUNT', 'The withdrawn amount must not be zero.')
  const depository = requestedDepository(chain, request.depository)
  const spender = hubAlias(protocolChain(ownerChain), request.owner)
  const { currency, recipient } = request
  const nonce = BigInt(request.nonce)
  return {
    chain,
    depository,
    amount,
    nonce,
    hubTokenId: hubTokenId(protocolChain(chain), currency),
    spender,
    evidence,
    withdrawalAddress: withdrawalAddress(protocolChain(chain), {
      depository,
      currency,
      recipient,
      ownerAlias: spender,
      nonce,
    }),
  }
}

/** Suffix of a signature that is wrapped for a contract wallet that is not deployed yet. @source ERC-6492 */
const erc6492Suffix = '6492'.repeat(16)

/**
 * Checks that the owner's key signed, or that the owner's code accepts the signature (ERC-1271). Endpoints are asked
 * only where needed: for the account's key in families whose addresses do not name it, and for the code if the
 * account's own key did not sign.
 * @returns evidence that the owner's code accepted the signature; empty where a key signed
 * @source rules P-80 to P-82
 */
async function checkOwnerSignature(check: {
  readonly request: WithdrawalFlowRequest
  readonly ownerChain: AttestedChain
  readonly context: OwnerContext
  readonly options: ReadOptions
}): Promise<readonly Evidence[]> {
  const { request, ownerChain, context, options } = check
  const { id } = ownerChain
  const { ownerSignature: signature } = request
  const evidence: Evidence[] = []
  const isSigned = await isSignedByOwner({
    request,
    signature,
    ownerChain,
    recoverSigner: context.recoverSigner,
    readOwnerKey: async (account) => {
      const reader = context.readerOf(id)
      if (reader.readOwnerKey !== undefined) return reader.readOwnerKey(account, options)
      throw new AttestationError('OWNER_CHAIN_NOT_SUPPORTED', `Nobody tells the keys of owners on ${id}.`, {
        data: { ownerChainId: id },
      })
    },
    isAcceptedByCode: async (account, digest) => {
      if (signature.endsWith(erc6492Suffix)) throw notSigned(wrappedSignature)
      const accepted = await context.readerOf(id).readCodeSignature?.({ account, digest, signature }, options)
      if (accepted === undefined) return false
      evidence.push(accepted)
      return true
    },
  })
  if (!isSigned) throw notSigned('The owner did not sign this request.')
  return evidence
}

const wrappedSignature =
  'ownerSignature is wrapped by ERC-6492: an owner that has no code in a final block cannot sign. ' +
  'Deploy it, wait for finality, and send the signature that its code accepts (ERC-1271).'

function notSigned(message: string): AttestationError {
  return new AttestationError('INVALID_OWNER_SIGNATURE', message)
}
