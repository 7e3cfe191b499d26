// Goal: no byte that the oracle signs changes unnoticed, for any kind and any family. Method: every kind is attested
// from fixed facts of every family, and ids, digests, executions and signatures are compared with the recording.
import {
  bytesToHex,
  type FactsReader,
  hubAlias,
  type Order,
  onchainId,
  orderId,
  ownerRequestDigest,
  type WithdrawalFacts,
  withdrawalAddress,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { withdrawRequestOf } from '@causeway/families/rules'
import { createRawKeySigner, parsePrivateKey, recoverSigner } from '@causeway/signer'
import { sign } from 'viem/accounts'
import { expect, test } from 'vitest'
import type { AttestationContext } from '../../apps/oracle/src/attestations/context.ts'
import {
  type AttestationDefinition,
  depositsDefinition,
  fillsDefinition,
  type RequestSwitches,
  refundsDefinition,
  requestedWithdrawalsDefinition,
  withdrawalInitiatedDefinition,
  withdrawalInitiatedV2Definition,
  withdrawalInitiationDefinition,
  withdrawalInitiationV2Definition,
  withdrawalsDefinition,
} from '../../apps/oracle/src/service/definitions.ts'
import { signResponse } from '../../apps/oracle/src/service/signing.ts'
import { signedOrder } from '../../apps/oracle/test/fixtures/requests.ts'
import {
  blockTime,
  evidence,
  scriptedReader,
  world,
  chains as worldChains,
} from '../../apps/oracle/test/fixtures/world.ts'
import { oracleKey } from '../../packages/core/test/vectors/messages.ts'
import { orderB, orderBSolverKey } from '../../packages/core/test/vectors/orders.ts'
import { type FamilyFacts, families } from './oracle/familyFacts.ts'
import { compare } from './support/checkGroups.ts'

const options = { signal: new AbortController().signal }
const signer = createRawKeySigner({ privateKey: parsePrivateKey(oracleKey, 'KEY') })
const ownerChainId = 'base'
const owner = '0x2e988a386a799f506693793c6a5af6b54dfaabfb'
const ownerAlias = hubAlias({ chainId: ownerChainId, ...mainNetwork('ethereum-vm') }, owner)

const chains = new Map(worldChains)
for (const { chainId, vmType, hubChainId, depository } of families)
  chains.set(chainId, { id: chainId, vmType, hubChainId, depository, network: undefined })
const networkOf = (chainId: string) => chains.get(chainId)

/** A context in which one reader tells these facts, and the allocator has issued the family's withdrawal. */
function contextOf(
  family: FamilyFacts,
  reader: FactsReader,
  balances: Readonly<Record<string, bigint>> = {},
) {
  const scripted = world({}, balances, { [payloadIdOf(family)]: family.payload })
  const context: AttestationContext = { ...scripted, chains, networkOf, readerOf: () => reader }
  return context
}

function payloadIdOf({
  vmType,
  hubChainId,
  depository,
  currency,
  recipient,
  withdrawal,
  withdrawn,
}: FamilyFacts) {
  const requested = { depository, currency, amount: withdrawn, recipient, spender: ownerAlias, nonce: 42n }
  return withdrawRequestPayloadId(
    withdrawRequestOf({ ...mainNetwork(vmType), hubChainId }, withdrawal, requested),
  )
}

/** The answer with its signatures, and beside it what each of them signs. */
async function attested<Request extends RequestSwitches, Response extends object>(
  name: string,
  { kind, requestSchema, attest }: AttestationDefinition<Request, Response>,
  body: object,
  context: AttestationContext,
): Promise<object> {
  const { unsigned, isFinal } = await attest(requestSchema.parse(body), context, options)
  const signatureContext = { hub: context.hub, networkOf: context.networkOf }
  const signing = { signer, context: signatureContext }
  const { response: answer } = await signResponse(kind, unsigned, signing, options)
  const signed = kind.signatureArrays(answer, signatureContext).map((array) => {
    const digest = array.digestOf(array.ownDomain)
    if (digest === undefined) throw new Error(`${name}: ${array.path} cannot be signed`)
    const [claim] = array.claims
    const recovered = claim === undefined ? undefined : recoverSigner(digest, claim.signature)
    const request = JSON.parse(JSON.stringify(array.requestOf(array.ownDomain), bigintAsText))
    return { path: array.path, request, digest: bytesToHex(digest), recovered }
  })
  return { name, kind: kind.name, isFinal, body, answer, signed }
}

const bigintAsText = (_name: string, value: unknown) => (typeof value === 'bigint' ? value.toString() : value)

const amount = 1_000_000n

function depositBy(
  { chainId, depository, currency, account, transactions }: FamilyFacts,
  depositId: `0x${string}`,
) {
  const [transactionId] = transactions
  return {
    kind: 'deposits',
    transactionId,
    blockTimestampSeconds: blockTime,
    evidence: evidence(chainId),
    deposits: [{ onchainIndex: '7', depository, depositId, depositor: account, currency, amount }],
  } as const
}

function orderOf({ chainId, currency, account, recipient }: FamilyFacts): Order {
  const [deadline, extraData] = [2_000_000_000, '0x'] as const
  const refund = { chainId, recipient: account, currency, minimumAmount: '990000', deadline, extraData }
  const payment = { recipient, currency, minimumAmount: '900000', expectedAmount: '910000' }
  return {
    ...orderB,
    inputs: [{ payment: { chainId, currency, amount: amount.toString(), weight: '1' }, refunds: [refund] }],
    output: { chainId, payments: [payment], calls: [], deadline, extraData },
  }
}

/** Deposit, fill and refund of one order within the family. */
async function settlement(family: FamilyFacts): Promise<readonly object[]> {
  const { chainId, currency, account, recipient, transactions } = family
  const [deposited, filled, refunded] = transactions
  const { order, orderSignature } = await signedOrder(orderOf(family), networkOf)
  const depositId = orderId(order, networkOf)
  const paid = (transactionId: string, to: string) => ({
    ...({ kind: 'payment', transactionId, blockTimestampSeconds: blockTime, referencesOrder: true } as const),
    transfers: [{ recipient: to, currency, amount: 995_000n }],
    calls: [],
    evidence: evidence(chainId),
  })
  const reader = scriptedReader(chainId, {
    deposits: { [deposited]: depositBy(family, depositId) },
    payments: { [filled]: paid(filled, recipient), [refunded]: paid(refunded, account) },
  })
  const context = contextOf(family, reader)
  const inputs = [
    {
      transactionId: deposited,
      inputIndex: 0,
      onchainId: onchainId({ chainId, transactionId: deposited, onchainIndex: '7' }),
    },
  ]
  const settled = { order, orderSignature, inputs }
  const refunds = [{ transactionId: refunded, inputIndex: 0, refundIndex: 0 }]
  const body = { chainId, transactionId: deposited }
  return [
    await attested(`${chainId}: deposit for an order`, depositsDefinition, body, context),
    await attested(
      `${chainId}: fill`,
      fillsDefinition,
      { ...settled, fill: { transactionId: filled } },
      context,
    ),
    await attested(
      `${chainId}: fill by force`,
      fillsDefinition,
      { ...settled, fill: { transactionId: filled }, force: true },
      context,
    ),
    await attested(`${chainId}: refund`, refundsDefinition, { ...settled, refunds }, context),
  ]
}

async function withdrawals(family: FamilyFacts): Promise<readonly object[]> {
  const { chainId, vmType, depository, currency, recipient, withdrawal, withdrawn, transactions } = family
  const [, , , executingTransactionId] = transactions
  const request = {
    chainId,
    currency,
    amount: withdrawn.toString(),
    recipient,
    nonce: '42',
    ownerChainId,
    owner,
    ...(family.additionalData !== undefined && { additionalData: family.additionalData }),
  }
  const hash = bytesToHex(ownerRequestDigest(request))
  const flow = { ...request, ownerSignature: await sign({ hash, privateKey: orderBSolverKey, to: 'hex' }) }
  const holder = withdrawalAddress(
    { chainId, ...mainNetwork(vmType) },
    { depository, currency, recipient, ownerAlias, nonce: 42n },
  )
  const balances = { [ownerAlias]: withdrawn, [holder]: withdrawn }
  const data = '0x0123' as const
  const asked = { kind: 'withdraw-request', depository, currency, recipient, data } as const
  const flowContext = contextOf(family, scriptedReader(chainId, { withdrawRequest: asked }), balances)
  const entries = [
    await attested(`${chainId}: initiation, v1`, withdrawalInitiationDefinition, flow, flowContext),
    await attested(`${chainId}: initiation, v2`, withdrawalInitiationV2Definition, flow, flowContext),
    await attested(`${chainId}: initiated, v1`, withdrawalInitiatedDefinition, flow, flowContext),
    await attested(`${chainId}: initiated, v2`, withdrawalInitiatedV2Definition, flow, flowContext),
  ]
  const withdrawalAddressRequest = {
    chainId,
    currency,
    recipient,
    withdrawalNonce: '42',
    withdrawer: owner,
    withdrawerChainId: ownerChainId,
  }
  for (const status of ['pending', 'executed', 'expired'] as const) {
    const facts: WithdrawalFacts = {
      kind: 'withdrawal',
      withdrawalId: `0x${'42'.repeat(32)}`,
      depository,
      status,
      currency,
      recipient,
      amount: withdrawn,
      evidence: evidence(chainId),
      ...(status === 'executed' && { executingTransactionId }),
    }
    const read = scriptedReader(chainId, { withdrawals: { [withdrawal]: facts, [family.payload]: facts } })
    const context = contextOf(family, read, balances)
    const named = status === 'executed' ? { transactionId: executingTransactionId } : {}
    const v1 = { chainId, withdrawal, withdrawalAddressRequest, ...named }
    const v2 = { ...flow, ...named }
    entries.push(
      await attested(`${chainId}: withdrawal that is ${status}, v1`, withdrawalsDefinition, v1, context),
      await attested(
        `${chainId}: withdrawal that is ${status}, v2`,
        requestedWithdrawalsDefinition,
        v2,
        context,
      ),
    )
  }
  return entries
}

test.each(families)('$chainId signs what is recorded', async (family) => {
  const { chainId, transactions } = family
  const [transactionId] = transactions
  const facts = { [transactionId]: depositBy(family, `0x${'00'.repeat(32)}`) }
  const context = contextOf(family, scriptedReader(chainId, { deposits: facts }))
  const entries = [
    await attested(
      `${chainId}: deposit without order`,
      depositsDefinition,
      { chainId, transactionId },
      context,
    ),
    ...(await settlement(family)),
    ...(await withdrawals(family)),
  ]
  expect(entries).toHaveLength(15)
  const names = entries.map((entry) => ('name' in entry ? String(entry.name) : ''))
  await compare(`oracle/signedBytes/${chainId}`, entries, names)
})
