// Goal: what three peered oracles answer about real transactions is accepted by the hub's contracts as it
// stands, once, and moves hub balances as its actions say. Method: real nodes, real contracts, HTTP.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hex, hubAlias, hubTokenId, orderAddress } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import {
  type LocalAccount,
  parseOperatorCommand,
  runOperatorCommand,
  startTestNetwork,
  type TestNetwork,
} from '@causeway/localnet'
import { parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { hubBalance, submitExecution } from './support/hubSubmission.ts'
import { type OracleTrio, startOracleTrio } from './support/oracleTrio.ts'
import {
  type Call,
  deposit,
  native,
  noOrder,
  pay,
  payeeOfCalls,
  refundIdOf,
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
  const ordered = callsOf(calls.amount)
  const spent = { to: payeeOfCalls(network, 'optimism', ordered), currency: native, amount: calls.amount }
  const output = { to: payer.address, currency: currency.other(), amount: currency.amount - 10_000n }
  const signed = await signedOrder(network, {
    salt,
    input: { chain: 'base', currency: currency.of(), amount: currency.amount },
    refundTo: payer.address,
    output: {
      chain: 'optimism',
      payments: calls.amount === 0n ? [output] : [output, spent],
      calls: ordered,
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
  const inputs = [{ transactionId, onchainId: result.onchainId, inputIndex: 0 }] as const
  return { ...signed, inputs, holder, token: hubTokenId(base, currency.of()) }
}

describe.each(currencies)('with $name currency', (currency) => {
  test('P-89: a deposit mints its amount to the order, once', async () => {
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
      calls: callsOf(callValue),
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

const callsOf = (value: bigint): readonly Call[] =>
  value === 0n ? [] : [{ to: user(5).address, data: '0x', value }]

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
  made: SignedOrder & { readonly inputs: readonly [{ readonly transactionId: Hex }] },
  currency: Currency,
): Promise<{ execution: Parameters<typeof submitExecution>[1] }> {
  const { order, orderSignature, inputs, orderId } = made
  const amount = (currency.amount * 99n) / 100n
  const [{ transactionId: deposited }] = inputs
  const refunded = { transactionId: deposited, currency: currency.of(), amount: currency.amount }
  const transactionId = await pay(network, 'base', {
    orderId,
    payments: [{ to: user(0).address, currency: currency.of(), amount }],
    recordId: refundIdOf(network, made, refunded),
  })
  const refunds = [{ transactionId, inputIndex: 0, refundIndex: 0 }]
  return attest('solver-refunds', { order, orderSignature, inputs, refunds })
}

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other signature of the same signer over the same digest. */
function highS(signature: Hex): Hex {
  const s = curveOrder - BigInt(`0x${signature.slice(66, 130)}`)
  const v = signature.endsWith('1b') ? '1c' : '1b'
  return `0x${signature.slice(2, 66)}${s.toString(16).padStart(64, '0')}${v}`
}
