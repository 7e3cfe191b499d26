// A withdrawal from the owner's signature to the burn, on real nodes: native and in a token.
import { decodeEvmWithdrawal, encodeEvmWithdrawal } from '@causeway/families/rules'
import { issuedPayload, submitWithdrawRequest } from '../../../apps/oracle/test/support/hubSubmission.ts'
import { ask, initiate, payloadIdOf } from '../../../apps/oracle/test/support/ownerWithdrawals.ts'
import { executeWithdrawal, native } from '../../../apps/oracle/test/support/protocolActors.ts'
import { hexOf, type OracleStage } from '../support/stage.ts'

const recipient = hexOf(`0x${'7e'.repeat(20)}`)

export async function recordWithdrawals(stage: OracleStage): Promise<void> {
  const { USDC } = stage.world.network.deployment.base.tokens
  await recordWithdrawal(stage, {
    name: 'native',
    currency: native,
    amount: 500_000_000_000_000_000n,
    nonce: '1',
  })
  await recordWithdrawal(stage, { name: 'USDC', currency: USDC, amount: 50_000_000n, nonce: '2' })
}

type Case = {
  readonly name: string
  readonly currency: `0x${string}`
  readonly amount: bigint
  readonly nonce: string
}

async function recordWithdrawal(stage: OracleStage, { name, currency, amount, nonce }: Case): Promise<void> {
  const { oracle, world, user } = stage
  const { network } = world
  let count = 0
  const post = async (path: string, body: object) => {
    count += 1
    const answer = await oracle.ask({
      name: `${name}, step ${count}: ${path}`,
      path,
      body,
    })
    return { status: answer.status, text: JSON.stringify(answer.body) }
  }
  const steps = { post }
  const initiated = await initiate(network, steps, { owner: user(2), currency, amount, recipient, nonce })
  const { flow, addressRequest } = initiated
  const flowRoute = (route: string, what: string, change: object = {}) =>
    oracle.ask({
      name: `${name}: ${route}, ${what}`,
      path: `/attestations/${route}`,
      body: { ...flow, ...change },
    })
  for (const version of ['v1', 'v2']) {
    await flowRoute(`withdrawal-initiation/${version}`, 'alone')
    await flowRoute(`withdrawal-initiation/${version}`, 'with evidence', { includeEvidence: true })
    await flowRoute(`withdrawal-initiation/${version}`, 'of another amount than signed', { amount: '1' })
    await flowRoute(`withdrawal-initiation/${version}`, 'of nothing', { amount: '0' })
    await flowRoute(`withdrawal-initiation/${version}`, 'from an unknown chain', { chainId: 'moon' })
    await flowRoute(`withdrawal-initiation/${version}`, 'by an owner that is none', { owner: 'me' })
    await flowRoute(`withdrawal-initiation/${version}`, 'from a depository that is none', {
      depository: recipient,
    })
    await flowRoute(`withdrawal-initiated/${version}`, 'alone')
    await flowRoute(`withdrawal-initiated/${version}`, 'with evidence', { includeEvidence: true })
    await flowRoute(`withdrawal-initiated/${version}`, 'signed by nobody', {
      ownerSignature: `0x${'11'.repeat(65)}`,
    })
  }
  await flowRoute('depository-withdrawals/v2', 'before it is issued')
  const { body } = await ask(steps, 'withdrawal-initiated/v2', flow)
  const submitted = await submitWithdrawRequest(network, body.payloadParams)
  if (submitted !== 'accepted') throw new Error(submitted)
  const withdrawal = await issuedPayload(network, payloadIdOf(body.payloadParams))
  const v1 = (what: string, change: object = {}) =>
    oracle.ask({
      name: `${name}: withdrawal, ${what}`,
      path: '/attestations/depository-withdrawals/v1',
      body: { chainId: 'base', withdrawal, withdrawalAddressRequest: addressRequest, ...change },
    })
  await v1('issued')
  await v1('issued, with evidence', { includeEvidence: true })
  await v1('issued, with peers', { requestPeerSignatures: true })
  await v1('issued, alone', { withdrawalAddressRequest: undefined })
  await v1('that cannot be decoded', { withdrawal: '0x1234' })
  await v1('of another owner', {
    withdrawalAddressRequest: { ...addressRequest, withdrawer: user(3).address },
  })
  const expired = encodeEvmWithdrawal({
    ...decodeEvmWithdrawal(withdrawal),
    nonce: 1n,
    expiration: 1_700_000_000n,
  })
  await v1('self-made and expired', { withdrawal: expired })
  await v1('self-made and expired, alone', { withdrawal: expired, withdrawalAddressRequest: undefined })
  await flowRoute('depository-withdrawals/v2', 'issued')
  const transactionId = await executeWithdrawal(network, 'base', decodeEvmWithdrawal(withdrawal))
  await v1('executed', { transactionId })
  await v1('executed, with peers', { transactionId, requestPeerSignatures: true })
  await v1('executed, without its transaction')
  await v1('executed, with another transaction', { transactionId: `0x${'65'.repeat(32)}` })
  await flowRoute('depository-withdrawals/v2', 'executed', { transactionId })
  await flowRoute('depository-withdrawals/v2', 'executed, with peers and evidence', {
    transactionId,
    requestPeerSignatures: true,
    includeEvidence: true,
  })
  await flowRoute('depository-withdrawals/v2', 'executed, without its transaction')
}
