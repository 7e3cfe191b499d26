import type {
  AttestationKind,
  DepositsResponse,
  SignatureClaim,
  SignatureContext,
  WithdrawalsResponse,
} from '@causeway/attestations'
import {
  depositsExecutionKey,
  encodeMintAction,
  type Hex,
  hubTokenId,
  orderAddress,
  type Signer,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { createRawKeySigner, parsePrivateKey } from '@causeway/signer'
import { ethereumDeposit, hubDomain } from '../../../../packages/core/test/vectors/messages.ts'
import { networkOf, repeated } from '../../../../packages/core/test/vectors/orders.ts'

const signerOf = (digit: string) =>
  createRawKeySigner({ privateKey: parsePrivateKey(repeated(digit, 32), 'KEY') })

/** A, B and C are on the allowlist of the tests, X is not. */
export const signers = { A: signerOf('a1'), B: signerOf('b2'), C: signerOf('c3'), X: signerOf('d4') }
export type SignerName = keyof typeof signers

export const context: SignatureContext = { hub: { executionDomain: hubDomain }, networkOf }

/** Context of the same hub under another contract or chain id. */
export function contextWith(change: {
  chainId?: number
  verifyingContract?: Hex
  version?: string
}): SignatureContext {
  return { ...context, hub: { executionDomain: { ...hubDomain, ...change } } }
}

export const depositsBody = {
  chainId: 'ethereum',
  transactionId: ethereumDeposit.data.transactionId,
  requestPeerSignatures: true,
}

/** Coherent deposits of one transaction, unsigned; other amounts are another payload. */
export function depositsOf(
  amounts: readonly string[],
  transactionId: string = depositsBody.transactionId,
): DepositsResponse {
  const chain = { chainId: 'ethereum', ...mainNetwork('ethereum-vm') } as const
  const { result } = ethereumDeposit
  const token = hubTokenId(chain, result.currency)
  const timestampSeconds = 1_700_000_000n
  const hubTo = orderAddress(chain, { ...result, timestampSeconds })
  return {
    messages: amounts.map((amount, index) => ({
      data: { chainId: chain.chainId, transactionId },
      result: { ...result, onchainId: repeated(`0${index + 1}`, 32), amount },
      extraData: { timestamp: String(timestampSeconds) },
      signatures: [],
    })),
    execution: {
      idempotencyKey: depositsExecutionKey({ chainId: chain.chainId, transactionId }),
      actions: amounts.map((amount) =>
        encodeMintAction({ hubTo, hubTokenId: token, amount: BigInt(amount) }),
      ),
      metadata: amounts.map(() => ({
        hubTokenId: token.toString(),
        origin: { address: result.currency, chainId: chain.chainId, family: chain.vmType },
        oracleChainId: String(hubDomain.chainId),
        oracleContract: hubDomain.verifyingContract,
      })),
      signatures: [],
    },
  }
}

export const withdrawalsBody = { chainId: 'ethereum', withdrawal: '0x1234', requestPeerSignatures: true }

export function withdrawalOf(status: 0 | 1 | 2): WithdrawalsResponse {
  return {
    message: {
      data: { chainId: 'ethereum', withdrawal: '0x1234' },
      result: { withdrawalId: repeated('42', 32), depository: ethereumDeposit.result.depository, status },
      signatures: [],
    },
  }
}

/** Every array signed by everybody named, in that order. */
export function signed<Response>(
  kind: AttestationKind<Response>,
  response: Response,
  by: readonly SignerName[],
  under: SignatureContext = context,
): Promise<Response> {
  const named = by.map((name) => signers[name])
  return signedBy(kind, response, named, under)
}

/** See `signed`; by whoever has a key. */
export async function signedBy<Response>(
  kind: AttestationKind<Response>,
  response: Response,
  by: readonly Signer[],
  under: SignatureContext,
): Promise<Response> {
  const claims = new Map<string, SignatureClaim[]>()
  for (const { path, ownDomain, requestOf } of kind.signatureArrays(response, under)) {
    const request = requestOf(ownDomain)
    if (request === undefined) throw new Error(`${path} cannot be signed`)
    const entries = by.map(async (signer): Promise<SignatureClaim> => {
      const signature = await signer.sign(request)
      return {
        signer: signer.address,
        signature,
        ...(ownDomain !== undefined && { domain: ownDomain }),
      }
    })
    claims.set(path, await Promise.all(entries))
  }
  return kind.withSignatures(response, (path) => claims.get(path) ?? [])
}
