import type { DepositsResponse } from '@causeway/attestations'
import {
  type DepositFact,
  type DepositFacts,
  depositsExecutionKey,
  encodeMintAction,
  type Hex,
  hubAlias,
  hubTokenId,
  onchainId,
  orderAddress,
} from '@causeway/core'
import { codecOf } from '@causeway/core/encodings'
import type { DepositsRequest } from '../wire/requests.ts'
import {
  type Attest,
  type AttestationContext,
  type AttestedChain,
  chainOf,
  protocolChain,
} from './context.ts'

/** Id in a deposit that names no order. */
const noOrder: Hex = `0x${'0'.repeat(64)}`

/** The request with its transaction id in canonical spelling. @throws UnknownChainError, InvalidTransactionIdError */
export function canonicalDeposits(
  request: DepositsRequest,
  context: Pick<AttestationContext, 'chains'>,
): DepositsRequest {
  const codec = codecOf(chainOf(context, request.chainId))
  return { ...request, transactionId: codec.canonicalTransactionId(request.transactionId) }
}

/**
 * POST /attestations/depository-deposits/v1: attests every deposit of one final transaction. The execution mints each
 * to the account of the order that it names, or of its depositor. Takes a request from `canonicalDeposits`.
 * @source rule P-130
 */
export const attestDeposits: Attest<DepositsRequest, DepositsResponse> = async (
  { chainId, transactionId },
  context,
  options,
) => {
  const chain = chainOf(context, chainId)
  const facts = await context.readerOf(chain.id).readDeposits({ transactionId }, options)
  return { unsigned: buildDeposits(facts, chain, context), evidence: [facts.evidence], isFinal: true }
}

/** The answer without signatures; no execution when the transaction holds no deposit. */
function buildDeposits(
  facts: DepositFacts,
  chain: AttestedChain,
  { hub }: Pick<AttestationContext, 'hub'>,
): DepositsResponse {
  const { deposits, transactionId } = facts
  if (deposits.length === 0) return { messages: [] }
  const originChain = protocolChain(chain)
  return {
    messages: deposits.map((deposit) => depositMessage(deposit, facts, chain)),
    execution: {
      idempotencyKey: depositsExecutionKey({ chainId: chain.id, transactionId }),
      actions: deposits.map((deposit) =>
        encodeMintAction({
          hubTo: mintedTo(deposit, facts, chain),
          hubTokenId: hubTokenId(originChain, deposit.currency),
          amount: deposit.amount,
        }),
      ),
      // Not signed: it tells callers what is minted.
      metadata: deposits.map((deposit) => ({
        hubTokenId: hubTokenId(originChain, deposit.currency).toString(),
        origin: { address: deposit.currency, chainId: chain.id, family: chain.vmType },
        oracleChainId: String(hub.executionDomain.chainId),
        oracleContract: hub.executionDomain.verifyingContract,
      })),
      signatures: [],
    },
  }
}

function depositMessage(
  deposit: DepositFact,
  { transactionId, blockTimestampSeconds }: DepositFacts,
  chain: AttestedChain,
): DepositsResponse['messages'][number] {
  return {
    data: { chainId: chain.id, transactionId },
    result: {
      onchainId: onchainId({ chainId: chain.id, transactionId, onchainIndex: deposit.onchainIndex }),
      depository: deposit.depository,
      depositId: deposit.depositId,
      depositor: deposit.depositor,
      currency: deposit.currency,
      amount: deposit.amount.toString(),
    },
    extraData: { timestamp: blockTimestampSeconds.toString() },
    signatures: [],
  }
}

/** Account on the hub that receives a deposit. */
function mintedTo(
  { depositor, depositId }: DepositFact,
  { blockTimestampSeconds: timestampSeconds }: DepositFacts,
  chain: AttestedChain,
): Hex {
  const originChain = protocolChain(chain)
  if (depositId === noOrder) return hubAlias(originChain, depositor)
  return orderAddress(originChain, { depositor, timestampSeconds, depositId })
}
