// One of every fact that an oracle attests, as real transactions: an order that is filled, one that is refunded, and a
// withdrawal from the owner's signature to its execution.

import type { Hex } from '@causeway/core'
import { decodeEvmWithdrawal } from '@causeway/families/rules'
import { parseEther } from 'viem'
import {
  hubBalance,
  issuedPayload,
  submitExecution,
  submitWithdrawRequest,
} from '../../../apps/oracle/test/support/hubSubmission.ts'
import { initiate, payloadIdOf } from '../../../apps/oracle/test/support/ownerWithdrawals.ts'
import {
  deposit,
  executeWithdrawal,
  native,
  pay,
  refundIdOf,
  type SignedOrder,
  signedOrder,
} from '../../../apps/oracle/test/support/protocolActors.ts'
import { userOf } from '../../../apps/quote-api/test/serviceSupport/localRequest.ts'
import { type Answered, ask, askWithPeers, deposits, signersOf } from './attesting.ts'
import type { OracleWorld } from './oracleWorld.ts'
import { honest } from './peerAnswers.ts'

/** A question, its answer with the signatures of two oracles, and what the hub said to its execution. */
export type Attested = {
  readonly path: string
  readonly body: object
  readonly answer: Answered
  readonly hub?: string
}

export type Story = Readonly<
  Record<'deposit' | 'fill' | 'refund' | 'initiation' | 'initiated' | 'withdrawal' | 'executed', Attested>
>

const amount = parseEther('0.5')
const route = (name: string) => `/attestations/${name}/v1`

/** Told to the oracle that needs two signatures, while a peer is honest. */
export async function tellStory(world: OracleWorld): Promise<Story> {
  const { network, quorum, peers, signers } = world
  peers.b.answers(honest(world, signers.B))
  const attest = async (path: string, body: object): Promise<Attested> => {
    for (;;) {
      const answer = await askWithPeers(quorum, path, body)
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
      if (signersOf(world, path, answer) === 'AB') return { path, body, answer }
    }
  }
  const settle = async (path: string, body: object): Promise<Attested> => {
    const attested = await attest(path, body)
    return { ...attested, hub: await submitExecution(network, attested.answer.body.execution) }
  }
  const filled = await orderOf(world, '1')
  const depositTold = await settle(deposits, filled.deposited)
  const fill = { transactionId: await payOutput(world, filled.signed) }
  const fillTold = await settle(route('solver-fills'), { ...filled.settling(depositTold), fill })
  const refunded = await orderOf(world, '2')
  const refundedDeposit = await settle(deposits, refunded.deposited)
  const refunds = [{ transactionId: await payBack(world, refunded), inputIndex: 0, refundIndex: 0 }]
  const refund = await settle(route('solver-refunds'), { ...refunded.settling(refundedDeposit), refunds })
  return { deposit: depositTold, fill: fillTold, refund, ...(await tellWithdrawal(world, attest)) }
}

async function orderOf({ network }: OracleWorld, salt: string) {
  const payer = userOf(network, 0)
  const signed = await signedOrder(network, {
    salt,
    refundTo: payer.address,
    input: { chain: 'base', currency: native, amount },
    output: {
      chain: 'optimism',
      payments: [{ to: payer.address, currency: native, amount: amount - 10_000n }],
    },
  })
  const id = signed.orderId
  const transactionId = await deposit(network, 'base', payer, { currency: native, amount, id })
  return {
    signed,
    deposited: { chainId: 'base', transactionId },
    settling({ answer }: Attested) {
      const { onchainId } = answer.body.messages[0].result
      const { order, orderSignature } = signed
      return { order, orderSignature, inputs: [{ transactionId, onchainId, inputIndex: 0 }] }
    },
  }
}

function payOutput({ network }: OracleWorld, { orderId }: SignedOrder): Promise<Hex> {
  const payments = [{ to: userOf(network, 0).address, currency: native, amount: amount - 10_000n }]
  return pay(network, 'optimism', { orderId, payments })
}

function payBack(
  { network }: OracleWorld,
  { signed, deposited: { transactionId } }: Awaited<ReturnType<typeof orderOf>>,
): Promise<Hex> {
  const { orderId } = signed
  const payments = [{ to: userOf(network, 0).address, currency: native, amount: (amount * 99n) / 100n }]
  const recordId = refundIdOf(network, signed, { transactionId, currency: native, amount })
  return pay(network, 'base', { orderId, payments, recordId })
}

async function tellWithdrawal(
  { network, quorum }: OracleWorld,
  attest: (path: string, body: object) => Promise<Attested>,
): Promise<Pick<Story, 'initiation' | 'initiated' | 'withdrawal' | 'executed'>> {
  const asked: Attested[] = []
  const post = async (path: string, body: object) => {
    const answer = await ask(quorum, path, body)
    asked.push({ path, body, answer })
    return { status: answer.status, text: JSON.stringify(answer.body) }
  }
  const terms = { owner: userOf(network, 2), currency: native, amount, nonce: '1' }
  const recipient: Hex = `0x${'7e'.repeat(20)}`
  const { flow, addressRequest, holder, token } = await initiate(
    network,
    { post },
    { ...terms, recipient },
    'v1',
  )
  const initiation = asked.at(-1)
  if (initiation === undefined) throw new Error('nothing was asked')
  const initiated = await attest(route('withdrawal-initiated'), flow)
  const { payloadParams } = initiated.answer.body
  const hub = await submitWithdrawRequest(network, payloadParams)
  const withdrawal = await issuedPayload(network, payloadIdOf(payloadParams))
  const question = { chainId: 'base', withdrawal, withdrawalAddressRequest: addressRequest }
  const pending = await attest(route('depository-withdrawals'), question)
  const transactionId = await executeWithdrawal(network, 'base', decodeEvmWithdrawal(withdrawal))
  const executed = await attest(route('depository-withdrawals'), { ...question, transactionId })
  const before = await hubBalance(network, holder, token)
  const burnt = await submitExecution(network, executed.answer.body.execution)
  if (before !== amount || (await hubBalance(network, holder, token)) !== 0n)
    throw new Error('the withdrawal address does not hold what was initiated, or keeps it')
  return {
    // Its execution is the first that the hub was brought.
    initiation: { ...initiation, hub: 'accepted' },
    initiated: { ...initiated, hub },
    withdrawal: pending,
    executed: { ...executed, hub: burnt },
  }
}
