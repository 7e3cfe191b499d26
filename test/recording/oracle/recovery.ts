// A deposit that its solver promises not to fill: the promise, its refusals, and the way back of the money.
import { bytesToHex, noFillOrRefundDigest } from '@causeway/core'
import { sign } from 'viem/accounts'
import { submitEntry, submitExecution } from '../../../apps/oracle/test/support/hubSubmission.ts'
import { deposit, signedOrder } from '../../../apps/oracle/test/support/protocolActors.ts'
import { textAt } from '../support/session.ts'
import { hexOf, type OracleStage } from '../support/stage.ts'

const depositsPath = '/attestations/depository-deposits/v1'
const promisePath = '/attestations/signatures/no-fill-or-refund/v1'
const recoverPath = '/attestations/recover/v1'
const amount = 40_000_000n
/** Above `recoveryDelaySeconds` of the local hub. */
const delaySeconds = 120

export async function recordRecovery({ oracle, world: { network }, user }: OracleStage): Promise<void> {
  const { base, optimism } = network.deployment
  const owner = user(0)
  const currency = base.tokens.USDC
  const signed = await signedOrder(network, {
    salt: '31',
    refundTo: owner.address,
    input: { chain: 'base', currency, amount },
    output: {
      chain: 'optimism',
      payments: [{ currency: optimism.tokens.USDC, to: owner.address, amount: 1_000_000n }],
    },
  })
  const { order, orderId, orderSignature } = signed
  const transactionId = await deposit(network, 'base', owner, { currency, amount, id: orderId })
  const deposited = await oracle.ask({
    name: 'the deposit, with peers',
    path: depositsPath,
    body: { chainId: 'base', transactionId, requestPeerSignatures: true },
  })
  const onchainId = textAt(deposited, 'messages', 0, 'result', 'onchainId')
  // CAST: an answer of 200 to a deposit holds its execution.
  const { execution } = deposited.body as { execution: Parameters<typeof submitExecution>[1] }
  await submitExecution(network, execution)
  await network.mine('hub', 3)

  const { fillWallet } = network.keys
  const promised = { solverChainId: 'base', solver: fillWallet.address, orderId }
  const hash = bytesToHex(noFillOrRefundDigest(promised, network.chains.base.chainId))
  const signature = await sign({ hash, privateKey: fillWallet.privateKey, to: 'hex' })
  const promise = (name: string, change: object = {}) =>
    oracle.ask({ name: `promise ${name}`, path: promisePath, body: { ...promised, signature, ...change } })
  const kept = await promise('with peers', { requestPeerSignatures: true })
  await promise('alone')
  await promise('by another than the solver', { solver: hexOf(`0x${'5b'.repeat(20)}`) })
  await promise('for another order', { orderId: `0x${'65'.repeat(32)}` })
  await promise('on a chain of another family', { solverChainId: 'solana' })

  const body = { chainId: 'base', transactionId, onchainId, order, orderSignature }
  const recover = (name: string, change: object = {}) =>
    oracle.ask({ name: `recover ${name}`, path: recoverPath, body: { ...body, ...change } })
  await recover('before the promise is written')
  await recover('without the order', { order: undefined, orderSignature: undefined })
  await recover('another deposit', { onchainId: `0x${'66'.repeat(32)}` })
  await recover('an order of another salt', { order: { ...order, salt: '32' } })
  // CAST: an answer of 200 to a promise holds its entry.
  const { genericMapping } = kept.body as { genericMapping: Parameters<typeof submitEntry>[1] }
  await submitEntry(network, genericMapping)
  await recover('too early')
  for (const chain of ['base', 'hub'] as const) {
    await network.chains[chain].chain.node.increaseTime({ seconds: delaySeconds })
    await network.mine(chain, 3)
  }
  await recover('with peers', { requestPeerSignatures: true })
  await recover('alone')
  await recover('with evidence', { includeEvidence: true })
  await recover('by force, which it does not know', { force: true })
}
