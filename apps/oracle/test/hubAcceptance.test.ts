// Goal: what three peered oracles answer about real transactions is accepted by the hub's contracts as it
// stands, once, and moves hub balances as its actions say. Method: real nodes, real contracts, HTTP.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  encodeEvmWithdrawal,
  type Hex,
  hubAlias,
  hubTokenId,
  mainNetwork,
  orderAddress,
  ownerRequestDigest,
  withdrawalAddress,
} from '@causeway/core'
import {
  type LocalAccount,
  parseOperatorCommand,
  runOperatorCommand,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, maxUint256, parseEther, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hubBalance, submitExecution, submitWithdrawRequest } from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import {
  deposit,
  executeWithdrawal,
  native,
  noOrder,
  pay,
  type SignedOrder,
  signedOrder,
} from './support/protocolActors.ts'

let network: TestNetwork
let trio: OracleTrio

beforeAll(async () => {
  network = await startTestNetwork()
  trio = await startOracleTrio(network)
})
afterAll(async () => {
  await trio?.stop()
  await network?.stop()
})

const base = { chainId: 'base', ...mainNetwork('ethereum-vm') } as const
const user = (index: number): LocalAccount => {
  const account = network.keys.users[index]
  if (account === undefined) throw new Error(`no user ${index}`)
  return account
}
const solverAlias = () => hubAlias(base, network.keys.fillWallet.address)

async function attest(path: string, body: object) {
  const { status, text } = await trio.post(`/attestations/${path}/v1`, {
    ...body,
    requestPeerSignatures: true,
  })
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`)
  return JSON.parse(text)
}

const attestDeposit = (transactionId: Hex) =>
  attest('depository-deposits', { chainId: 'base', transactionId })

/** Currencies that every flow is tried with. */
const currencies = [
  { name: 'native', of: () => native, other: () => native, amount: parseEther('0.5') },
  {
    name: 'ERC-20',
    of: () => network.deployment.base.tokens.USDC,
    other: () => network.deployment.optimism.tokens.USDC,
    amount: 25_000_000n,
  },
] as const

type Currency = (typeof currencies)[number]

/** An order from base to optimism, its deposit attested and minted on the hub. */
async function mintedOrder(currency: Currency, salt: string, calls: { readonly amount: bigint }) {
  const payer = user(0)
  const signed = await signedOrder(network, {
    salt,
    input: { chain: 'base', currency: currency.of(), amount: currency.amount },
    refundTo: payer.address,
    output: {
      chain: 'optimism',
      payments: [{ to: payer.address, currency: currency.other(), amount: currency.amount - 10_000n }],
      calls: calls.amount === 0n ? [] : [{ to: user(5).address, data: '0x', value: calls.amount }],
    },
  })
  const transactionId = await deposit(network, 'base', payer, {
    currency: currency.of(),
    amount: currency.amount,
    id: signed.orderId,
  })
  const answer = await attestDeposit(transactionId)
  expect(await submitExecution(network, answer.execution)).toBe('accepted')
  const { result, extraData } = answer.messages[0]
  const holder = orderAddress(base, {
    depositor: payer.address,
    timestampSeconds: BigInt(extraData.timestamp),
    depositId: signed.orderId,
  })
  const inputs = [{ transactionId, onchainId: result.onchainId, inputIndex: 0 }]
  return { ...signed, inputs, holder, token: hubTokenId(base, currency.of()) }
}

describe.each(currencies)('with $name currency', (currency) => {
  test('a deposit mints its amount to the order, once', async () => {
    const token = hubTokenId(base, currency.of())
    const { holder } = await mintedOrder(currency, `1${currency.amount}`, { amount: 0n })
    expect(await hubBalance(network, holder, token)).toBe(currency.amount)
  })

  test('the same answer is refused a second time', async () => {
    const transactionId = await deposit(network, 'base', user(1), {
      currency: currency.of(),
      amount: currency.amount,
      id: noOrder,
    })
    const answer = await attestDeposit(transactionId)
    expect(answer.execution.signatures.length).toBeGreaterThanOrEqual(2)
    expect(await submitExecution(network, answer.execution)).toBe('accepted')
    expect(await submitExecution(network, answer.execution)).toBe('AlreadyExecuted')
    const token = hubTokenId(base, currency.of())
    expect(await hubBalance(network, hubAlias(base, user(1).address), token)).toBe(currency.amount)
  })

  test.each([
    ['without calls', 0n],
    ['with a call', 7n],
  ])('a fill %s gives the deposit to the solver, and no refund can follow', async (_what, callValue) => {
    const made = await mintedOrder(currency, `2${currency.amount}${callValue}`, { amount: callValue })
    const before = await hubBalance(network, solverAlias(), made.token)
    const filled = await pay(network, 'optimism', {
      orderId: made.orderId,
      payments: paymentsOf(made),
      calls: callValue === 0n ? [] : [{ to: user(5).address, data: '0x', value: callValue }],
    })
    const { order, orderSignature, inputs } = made
    const fill = { transactionId: filled }
    const answer = await attest('solver-fills', { order, orderSignature, inputs, fill })
    expect(await submitExecution(network, answer.execution)).toBe('accepted')
    expect(await hubBalance(network, made.holder, made.token)).toBe(0n)
    expect(await hubBalance(network, solverAlias(), made.token)).toBe(before + currency.amount)
    const refund = await attestRefund(made, currency)
    expect(refund.execution.idempotencyKey).toBe(answer.execution.idempotencyKey)
    expect(await submitExecution(network, refund.execution)).toBe('AlreadyExecuted')
  })

  test('a refund gives the deposit to the solver', async () => {
    const made = await mintedOrder(currency, `3${currency.amount}`, { amount: 0n })
    const before = await hubBalance(network, solverAlias(), made.token)
    const answer = await attestRefund(made, currency)
    expect(await submitExecution(network, answer.execution)).toBe('accepted')
    expect(await hubBalance(network, solverAlias(), made.token)).toBe(before + currency.amount)
  })

  test('a balance is moved out: initiated, executed, burnt', async () => {
    const owner = user(2)
    const { flow, token, alias, address } = await initiated(currency, owner, '1')
    const payload = await attest('withdrawal-initiated', flow)
    expect(await submitWithdrawRequest(network, payload.payloadParams)).toBe('accepted')
    expect(await submitWithdrawRequest(network, payload.payloadParams)).toBe('AlreadySubmitted')

    const withdrawal = withdrawalTo(owner, currency, { nonce: 1n, expiration: maxUint256 })
    const body = withdrawalBody(flow, encodeEvmWithdrawal(withdrawal))
    const pending = await attest('depository-withdrawals', body)
    expect(pending.message.result.status).toBe(0)
    expect(pending).not.toHaveProperty('execution')

    const transactionId = await executeWithdrawal(network, 'base', withdrawal)
    const executed = await attest('depository-withdrawals', { ...body, transactionId })
    expect(executed.message.result.status).toBe(1)
    expect(await submitExecution(network, executed.execution)).toBe('accepted')
    expect(await hubBalance(network, address, token)).toBe(0n)
    expect(await hubBalance(network, alias, token)).toBe(0n)
    // Nothing is left to burn: a second withdrawal's burn is refused by the ledger itself.
    const other = withdrawalTo(owner, currency, { nonce: 2n, expiration: maxUint256 })
    const again = await executeWithdrawal(network, 'base', other)
    const overdrawn = await attest('depository-withdrawals', {
      ...withdrawalBody(flow, encodeEvmWithdrawal(other)),
      transactionId: again,
    })
    expect(await submitExecution(network, overdrawn.execution)).toBe('InsufficientBalance')
  })

  test('an expired withdrawal gives the balance back to its owner', async () => {
    const owner = user(3)
    const { flow, token, alias, address } = await initiated(currency, owner, '9')
    const withdrawal = withdrawalTo(owner, currency, { nonce: 9n, expiration: 1_700_000_000n })
    const body = withdrawalBody(flow, encodeEvmWithdrawal(withdrawal))
    const expired = await attest('depository-withdrawals', body)
    expect(expired.message.result.status).toBe(2)
    expect(await submitExecution(network, expired.execution)).toBe('accepted')
    expect(await hubBalance(network, address, token)).toBe(0n)
    expect(await hubBalance(network, alias, token)).toBe(currency.amount)
  })
})

test('the oracle that is asked measures its peers and its quorum', async () => {
  const transactionId = await deposit(network, 'base', user(1), { currency: native, amount: 9n, id: noOrder })
  await attestDeposit(transactionId)
  const text = await trio.metrics()
  const samples = text.split('\n').filter((line) => !line.startsWith('#') && !/ 0$/.test(line))
  const has = (...parts: string[]) => samples.some((line) => parts.every((part) => line.includes(part)))
  const route = 'route="/attestations/depository-deposits/v1"'
  expect(has('oracle_quorum_total', route, 'reached="yes"')).toBe(true)
  expect(has('oracle_peer_request_duration_seconds_count', 'peer="127.0.0.1:', 'outcome="merged"')).toBe(true)
  expect(has('oracle_signing_duration_seconds_count', 'outcome="signed"')).toBe(true)
})

test('the commands of the local network deposit, and bring the answer to the hub', async () => {
  const said = await runOperatorCommand(network, parseOperatorCommand(['deposit', 'base', '1.5']))
  await network.mine('base', 3)
  const transactionId = /^(0x[0-9a-f]{64}) deposits 1\.5 USDC/.exec(said)?.[1] ?? said
  const folder = await mkdtemp(join(tmpdir(), 'causeway-attestation-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'attestation.json')
  const submit = () => runOperatorCommand(network, parseOperatorCommand(['submit', file]))
  await writeFile(file, '{"messages":[]}')
  await expect(submit()).rejects.toThrow('holds no attestation with an execution')
  const body = { chainId: 'base', transactionId, requestPeerSignatures: true }
  await writeFile(file, (await trio.post('/attestations/depository-deposits/v1', body)).text)
  expect(await submit()).toMatch(/^The hub executed the attestation in 0x[0-9a-f]{64}\.$/)
  await expect(submit()).rejects.toThrow('The hub refuses the execution: AlreadyExecuted.')
})

describe('the hub refuses', () => {
  const types = {
    Execution: [
      { name: 'idempotencyKey', type: 'bytes32' },
      { name: 'actions', type: 'bytes[]' },
    ],
  } as const
  let execution: { idempotencyKey: Hex; actions: readonly Hex[]; signatures: { signature: Hex }[] }

  beforeAll(async () => {
    const transactionId = await deposit(network, 'base', user(4), {
      currency: native,
      amount: 1_000n,
      id: noOrder,
    })
    ;({ execution } = await attestDeposit(transactionId))
  })
  afterAll(async () => {
    expect(await submitExecution(network, execution), 'the untouched answer').toBe('accepted')
  })

  const hubDomain = () => ({
    name: 'RelayOracle',
    version: '2',
    chainId: network.chains.hub.chainId,
    verifyingContract: network.deployment.hub.oracle,
  })
  const ascending = () =>
    [...network.keys.oracles].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1))
  const signedBy = async (accounts: readonly LocalAccount[], domain: Partial<ReturnType<typeof hubDomain>>) =>
    Promise.all(
      accounts.map(async ({ privateKey }) => ({
        signature: await privateKeyToAccount(privateKey).signTypedData({
          domain: { ...hubDomain(), ...domain },
          types,
          primaryType: 'Execution',
          message: { idempotencyKey: execution.idempotencyKey, actions: execution.actions },
        }),
      })),
    )

  test.each<[string, () => Promise<readonly { signature: Hex }[]>]>([
    ['one signature', async () => execution.signatures.slice(0, 1)],
    ['a descending order', async () => [...execution.signatures].reverse()],
    ['one signer twice', async () => [0, 0].flatMap((at) => execution.signatures.slice(at, 1))],
    ['a signer that is no oracle', () => signedBy([user(0), user(1)], {})],
    [
      'an outsider among the signers',
      async () => {
        const [first] = ascending()
        if (first === undefined) throw new Error('no oracle')
        return signedBy(
          [first, user(0)].sort((a, b) => (BigInt(a.address) < BigInt(b.address) ? -1 : 1)),
          {},
        )
      },
    ],
    ['another domain version', () => signedBy(ascending(), { version: '1' })],
    ['another chain', () => signedBy(ascending(), { chainId: 1 })],
    ['another contract', () => signedBy(ascending(), { verifyingContract: network.deployment.hub.hub })],
    ['high s', async () => execution.signatures.map(({ signature }) => ({ signature: highS(signature) }))],
  ])('%s', async (_what, signatures) => {
    expect(await submitExecution(network, { ...execution, signatures: await signatures() })).toBe(
      'InvalidSignature',
    )
  })

  test('another action under the same signatures', async () => {
    const actions = execution.actions.map((action): Hex => `0x${action.slice(2, -2)}ff`)
    expect(await submitExecution(network, { ...execution, actions })).toBe('InvalidSignature')
  })
})

function paymentsOf({ order }: SignedOrder) {
  return order.output.payments.map(({ recipient, currency, minimumAmount }) => ({
    // CAST: an order of two EVM chains names EVM addresses.
    to: recipient as Hex,
    // CAST: as above.
    currency: currency as Hex,
    amount: BigInt(minimumAmount),
  }))
}

async function attestRefund(
  made: SignedOrder & { readonly inputs: readonly object[] },
  currency: Currency,
): Promise<{ execution: Parameters<typeof submitExecution>[1] }> {
  const { order, orderSignature, inputs, orderId } = made
  const amount = (currency.amount * 99n) / 100n
  const transactionId = await pay(network, 'base', {
    orderId,
    payments: [{ to: user(0).address, currency: currency.of(), amount }],
  })
  const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
  return attest('solver-refunds', { order, orderSignature, inputs, refunds })
}

/** A deposit without order, minted to its owner and moved to the withdrawal address. */
async function initiated(currency: Currency, owner: LocalAccount, nonce: string) {
  const transactionId = await deposit(network, 'base', owner, {
    currency: currency.of(),
    amount: currency.amount,
    id: noOrder,
  })
  const minted = await attestDeposit(transactionId)
  expect(await submitExecution(network, minted.execution)).toBe('accepted')
  const request = {
    chainId: 'base',
    currency: currency.of(),
    amount: currency.amount.toString(),
    ownerChainId: 'base',
    owner: owner.address,
    recipient: owner.address,
    nonce,
  }
  const digest = ownerRequestDigest(request)
  const ownerSignature = await privateKeyToAccount(owner.privateKey).sign({ hash: toHex(digest) })
  const flow = { ...request, ownerSignature }
  const answer = await attest('withdrawal-initiation', flow)
  expect(await submitExecution(network, answer.execution)).toBe('accepted')
  const alias = hubAlias(base, owner.address)
  const token = hubTokenId(base, currency.of())
  const address = withdrawalAddress(base, {
    depository: network.deployment.base.depository,
    currency: currency.of(),
    recipient: owner.address,
    ownerAlias: alias,
    nonce: BigInt(nonce),
  })
  expect(answer.withdrawalAddress).toBe(address)
  expect(await hubBalance(network, address, token)).toBe(currency.amount)
  return { flow, token, alias, address }
}

function withdrawalTo(
  owner: LocalAccount,
  currency: Currency,
  { nonce, expiration }: { readonly nonce: bigint; readonly expiration: bigint },
) {
  const token = currency.of()
  const { amount } = currency
  const call =
    token === native
      ? { to: owner.address, data: '0x' as const, value: amount }
      : {
          to: token,
          data: encodeFunctionData({
            abi: erc20Abi,
            functionName: 'transfer',
            args: [owner.address, amount],
          }),
          value: 0n,
        }
  return { calls: [{ ...call, allowFailure: false }], nonce, expiration }
}

function withdrawalBody(
  flow: {
    chainId: string
    currency: string
    owner: string
    ownerChainId: string
    recipient: string
    nonce: string
  },
  withdrawal: Hex,
) {
  const { chainId, currency, owner, ownerChainId, recipient, nonce } = flow
  return {
    chainId,
    withdrawal,
    withdrawalAddressRequest: {
      chainId,
      currency,
      withdrawer: owner,
      withdrawerChainId: ownerChainId,
      recipient,
      withdrawalNonce: nonce,
    },
  }
}

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other signature of the same signer over the same digest. */
function highS(signature: Hex): Hex {
  const s = curveOrder - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `0x${signature.slice(2, 66)}${s.toString(16).padStart(64, '0')}${v}`
}
