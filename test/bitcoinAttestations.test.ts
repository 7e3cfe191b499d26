// Goal: the routes attest what happened on Bitcoin like on any other chain, with the protocol's ids, whichever
// API shows it. Method: the whole HTTP surface over the real reader, real transactions and PSBTs in constructed
// blocks behind a stand-in of both APIs, and real signatures.
// CAUSEWAY_FAULTS=1 runs the long form of what endpoints say. @source rules P-89, P-127, F-131, F-135
import type { Hex, WithdrawalStatus } from '@causeway/core'
import { bitcoinNetworkOf } from '@causeway/core/encodings'
import { bitcoinWithdrawalId, outputScript } from '@causeway/families/rules'
import {
  type BitcoinApi,
  type BitcoinNode,
  ConstructedChain,
  keyOf,
  startBitcoinNode,
  timeAt,
} from '@causeway/localnet/standIns/bitcoin'
import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import {
  additional,
  additionalKey,
  depository,
  depositoryKey,
  funding,
  native,
  type Output,
  openChain,
  paying,
  saying,
  solver,
  user,
} from './families/bitcoinSupport/bitcoinBed.ts'
import { mutateText } from './families/bitcoinSupport/mutateText.ts'
import {
  elsewhere,
  executed,
  psbtOf,
  type Spendable,
  withdrawalOf,
} from './families/bitcoinSupport/withdrawals.ts'
import type { FamilySide, SeenWithdrawal } from './support/familyRoutes/familySide.ts'
import { issue } from './support/familyRoutes/issued.ts'
import { bitcoinOwners } from './support/familyRoutes/owners.ts'
import { routeFuzz } from './support/familyRoutes/routeFuzz.ts'
import { depositCases, oracleOf, refused, settlementCases } from './support/familyRoutes/settlementCases.ts'
import { withdrawalBody, withdrawalCases } from './support/familyRoutes/withdrawalCases.ts'
import { withdrawalFlowCases } from './support/familyRoutes/withdrawalFlowCases.ts'

const network = 'regtest'
const recipient = keyOf('recipient').witness.address
const chain = new ConstructedChain()
type Transaction = ReturnType<typeof paying>

let nodes: readonly BitcoinNode[]
beforeAll(async () => {
  nodes = await Promise.all([1, 2, 3].map(() => startBitcoinNode(chain)))
})
afterAll(() => Promise.all((nodes ?? []).map((node) => node.stop())))

/** @returns the height of its block, which is final */
function final(transaction: Transaction): number {
  chain.mine(transaction)
  const height = chain.tipHeight
  chain.mineEmpty(2)
  return height
}

/** Spends an output of its own. */
function send(from: typeof user, outputs: readonly Output[]) {
  const source = funding({ script: from.witness.script, value: 9_000n })
  final(source)
  const transaction = paying([{ txid: source.getId(), vout: 0 }], outputs)
  return { transactionId: transaction.getId(), height: final(transaction) }
}

const spendables = {
  primary: { key: depositoryKey, kind: 'legacy' },
  additional: { key: additionalKey, kind: 'witness' },
} as const

/** A final output of 5,000 satoshi of a depository. */
function held(owner: keyof typeof spendables = 'primary'): Spendable {
  const { key, kind } = spendables[owner]
  const from = funding({ script: key[kind].script, value: 5_000n })
  final(from)
  return { from, vout: 0, key, kind }
}

type Psbt = ReturnType<typeof psbtOf>

const toSolver: Output = { script: solver.witness.script, value: 1n }

function seen(psbt: Psbt, status: WithdrawalStatus, change: Partial<SeenWithdrawal> = {}): SeenWithdrawal {
  const withdrawal = withdrawalOf(psbt)
  return {
    withdrawal,
    withdrawalId: bitcoinWithdrawalId(withdrawal),
    status,
    currency: native,
    recipient: user.witness.address,
    amount: 5_000n,
    ...change,
  }
}

function paidOut(owner: keyof typeof spendables = 'primary') {
  const inputs = [held(owner)]
  const psbt = psbtOf({ inputs })
  const transaction = executed(psbt, inputs)
  final(transaction)
  const transactionId = transaction.getId()
  const from = owner === 'additional' ? { depository: additional } : {}
  const named = { transactionId, executingTransactionId: transactionId }
  return { ...seen(psbt, 'executed', from), ...named }
}

function createSide(api: BitcoinApi): FamilySide {
  const own = { id: 'bitcoin', vmType: 'bitcoin-vm', network, hubChainId: '56000' } as const
  return {
    chain: { ...own, depository, additionalDepositories: [additional] },
    currency: native,
    native,
    recipient,
    stranger: solver.legacy.address,
    hubToken: 92790975152359562336542918779047716403769291683730321299469526361874965529445n,
    missingTransactionId: 'ab'.repeat(32),
    openReader(count) {
      const urls = nodes.slice(0, count).map((node) => node.url(api))
      const lookup = api === 'node' ? [nodes[2]?.url('esplora') ?? ''] : []
      return openChain({ api, urls, lookup })
    },
    async deposit(orderId) {
      const named = orderId === undefined ? [] : [saying(orderId)]
      const toDepository = { script: depositoryKey.legacy.script, value: 1_000n }
      const { transactionId, height } = send(user, [toDepository, ...named])
      const timestampSeconds = BigInt(timeAt(height))
      const onchainIndex = named.length.toString()
      return { transactionId, onchainIndex, depositor: user.witness.address, timestampSeconds }
    },
    async pay({ orderId, amount: value, recipient: to }) {
      const script = outputScript(to, bitcoinNetworkOf(network))
      const named = orderId === undefined ? [] : [saying(orderId)]
      return send(solver, [{ script, value }, ...named]).transactionId
    },
    withdraw: async () => paidOut(),
    lie: (seed) =>
      nodes[0]?.fault(
        seed === undefined
          ? undefined
          : (_what, answer) => ({ ...answer, text: mutateText(answer.text, seed) }),
      ),
    fail: () => nodes[0]?.fault(() => ({ status: 200, text: '<html>' })),
  }
}

// The stand-in looks through its whole chain for each answer: it is shortest here.
routeFuzz(() => createSide('node'))

describe.each(['node', 'esplora'] as const)('through %s', (api) => {
  const side = createSide(api)
  depositCases(() => side)
  settlementCases(() => side)
  withdrawalCases(
    () => side,
    [
      ['that nothing spends is pending', async () => seen(psbtOf({ inputs: [held()] }), 'pending')],
      ['is burnt under the transaction that it became', async () => paidOut()],
      [
        'is burnt under it also where nobody names it',
        async () => {
          const { transactionId: _named, ...unnamed } = paidOut()
          return unnamed
        },
      ],
      [
        'of an additional depository is burnt from the address of that one',
        async () => paidOut('additional'),
      ],
      [
        'whose transaction is not deep enough is pending',
        async () => {
          const inputs = [held()]
          const psbt = psbtOf({ inputs })
          const transaction = executed(psbt, inputs)
          chain.mine(transaction)
          return seen(psbt, 'pending', { transactionId: transaction.getId() })
        },
      ],
      [
        'whose input was spent elsewhere goes back to its owner',
        async () => {
          const inputs = [held()]
          const spender = elsewhere(inputs, [toSolver])
          final(spender)
          return seen(psbtOf({ inputs }), 'expired', { transactionId: spender.getId() })
        },
      ],
      [
        'that is not signed and marked is burnt under the transaction with its mark',
        async () => {
          const inputs = [held()]
          const psbt = psbtOf({ inputs, signed: [], mark: 'withdrawal 1' })
          const spender = executed(psbt, inputs)
          final(spender)
          const transactionId = spender.getId()
          const named = { transactionId, executingTransactionId: transactionId }
          return seen(psbt, 'executed', named)
        },
      ],
    ],
  )
})

const side = createSide('esplora')

describe('a transaction', () => {
  const ask = async (transactionId: string) =>
    (await oracleOf(side)).post(paths.deposits, { chainId: 'bitcoin', transactionId })
  const toDepository = { script: depositoryKey.legacy.script, value: 1_000n }

  test('without confirmations, or without enough, is not final and asked for again', async () => {
    const source = funding({ script: user.witness.script, value: 9_000n })
    final(source)
    const transaction = paying([{ txid: source.getId(), vout: 0 }], [toDepository])
    const young = { status: 400, body: { errorCode: 'TRANSACTION_NOT_FINAL', retryable: true } }
    chain.announce(transaction)
    expect(await ask(transaction.getId())).toMatchObject(young)
    chain.mine(transaction)
    expect(await ask(transaction.getId())).toMatchObject(young)
    chain.mineEmpty(2)
    expect(await ask(transaction.getId())).toMatchObject({ status: 200 })
  })

  test('that funds no depository, or two, is refused', async () => {
    expect(await ask(send(user, [saying('hello')]).transactionId)).toMatchObject(
      refused('NO_VALUE_TO_DEPOSITORY'),
    )
    const both = [toDepository, { script: additionalKey.witness.script, value: 1n }]
    expect(await ask(send(user, both).transactionId)).toMatchObject(refused('MULTIPLE_DEPOSITORIES_FUNDED'))
  })

  test('that spends from a depository is no deposit', async () => {
    expect(await ask(paidOut().transactionId)).toMatchObject({ status: 200, body: { messages: [] } })
  })

  test('with an id in upper case is the same one', async () => {
    const { transactionId } = await side.deposit()
    expect(await ask(transactionId.toUpperCase())).toEqual(await ask(transactionId))
  })
})

test('F-136: a withdrawal of many inputs is burnt, however long their old transactions make it', async () => {
  const { post, issue: tell } = await oracleOf(side)
  const script = depositoryKey.legacy.script
  const inputs = Array.from({ length: 100 }, (): Spendable => {
    const from = funding({ script, value: 5_000n }, ...Array.from({ length: 20 }, () => toSolver))
    chain.mine(from)
    return { from, vout: 0, key: depositoryKey, kind: 'legacy' }
  })
  chain.mineEmpty(2)
  const psbt = psbtOf({ inputs })
  const transaction = executed(psbt, inputs)
  final(transaction)
  const transactionId = transaction.getId()
  const withdrawn = seen(psbt, 'executed', { amount: 500_000n, transactionId })
  expect(withdrawn.withdrawal.length).toBeGreaterThan(2 * 64 * 1_024)
  issue(side, { issue: tell }, withdrawn)
  const answer = await post(paths.withdrawals, withdrawalBody(side, withdrawn))
  expect(answer).toMatchObject({ status: 200, body: { message: { result: { status: 1 } } } })
  expect(answer.body).toHaveProperty('execution')
})

/** PSBT with `inputs` inputs of one satoshi of a depository; a library takes long to build it. @source BIP 174 */
function unsignedPsbt(inputs: number): Hex {
  const { script } = additionalKey.witness
  const spent = Buffer.concat([Buffer.of(1, 0, 0, 0, 0, 0, 0, 0, script.length), script])
  const sources = Array.from({ length: inputs }, (_, vout) => ({ txid: 'ab'.repeat(32), vout }))
  const transaction = paying(sources, [toSolver]).toBuffer()
  const length = Buffer.of(0xfd, transaction.length & 0xff, transaction.length >> 8)
  const inputMap = Buffer.concat([Buffer.of(1, 1, spent.length), spent, Buffer.of(0)])
  const head = [Buffer.from('70736274ff0100', 'hex'), length, transaction, Buffer.of(0)]
  const psbt = Buffer.concat([...head, ...sources.map(() => inputMap), Buffer.of(0)])
  return `0x${psbt.toString('hex')}`
}

describe('a withdrawal whose PSBT', () => {
  const ask = async (withdrawn: SeenWithdrawal) =>
    (await oracleOf(side)).post(paths.withdrawals, withdrawalBody(side, withdrawn))

  test('spends nothing of a depository is refused', async () => {
    const from = funding({ script: solver.witness.script, value: 5_000n })
    final(from)
    const inputs: readonly Spendable[] = [{ from, vout: 0, key: solver, kind: 'witness' }]
    expect(await ask(seen(psbtOf({ inputs }), 'pending'))).toMatchObject(refused('INVALID_WITHDRAWAL'))
  })

  test('spends more outputs than one attestation reads is refused before anything is asked', async () => {
    const withdrawal = unsignedPsbt(501)
    nodes[0]?.reset()
    const { post } = await oracleOf(side)
    expect(await post(paths.withdrawals, { chainId: 'bitcoin', withdrawal })).toMatchObject(
      refused('INVALID_WITHDRAWAL'),
    )
    expect(nodes[0]?.requests()).toBe(0)
  })

  test('F-135: carries the signatures of an executed one is given nothing back, whatever it says it pays', async () => {
    const inputs = [held()]
    const psbt = psbtOf({ inputs })
    final(executed(psbt, inputs))
    const forged = psbtOf({ inputs, signed: [], mark: 'mine' })
    const [{ partialSig = [] } = {}] = psbt.data.inputs
    forged.updateInput(0, { partialSig })
    const { post, issue: tell } = await oracleOf(side)
    issue(side, { issue: tell }, seen(psbt, 'executed'))
    expect(await post(paths.withdrawals, withdrawalBody(side, seen(forged, 'expired')))).toMatchObject(
      refused('WITHDRAWAL_PAYLOAD_MISMATCH'),
    )
  })

  test('has one changed nibble in a signature is the executed one still, under the one key', async () => {
    const withdrawn = paidOut()
    const { post, issue: tell } = await oracleOf(side)
    const key = issue(side, { issue: tell }, withdrawn)
    const honest = await post(paths.withdrawals, withdrawalBody(side, withdrawn))
    // The last byte of a partial signature but its hash type stands before the end of its input's map.
    const bytes = Buffer.from(withdrawn.withdrawal.slice(2), 'hex')
    const at = bytes.length - 5
    bytes[at] = Number(bytes[at]) ^ 0x01
    const changed = { ...withdrawn, withdrawal: `0x${bytes.toString('hex')}` as const }
    const answer = await post(paths.withdrawals, withdrawalBody(side, changed))
    expect(answer).toMatchObject({
      body: { message: { result: { status: 1 } }, execution: { idempotencyKey: key } },
    })
    expect(Object(answer.body).execution.actions).toEqual(Object(honest.body).execution.actions)
  })

  test('is settled by no other depository than the one that pays', async () => {
    expect(await ask({ ...paidOut(), depository: additional })).toMatchObject(
      refused('WITHDRAWAL_REQUEST_MISMATCH'),
    )
  })
})

const owners = bitcoinOwners(network)
const utxosType = parseAbiParameters([
  '(Utxo[] utxos, uint64 feeRate)',
  'struct Utxo { bytes32 txid; uint32 index; uint64 value; bytes script; }',
])

/** An output of a depository, as a request names it and as its allocator is told. */
function utxo(owner: keyof typeof spendables = 'primary') {
  const { from } = held(owner)
  const hash: Hex = `0x${Buffer.from(from.getHash()).toString('hex')}`
  const script: Hex = `0x${Buffer.from(depositoryKey.legacy.script).toString('hex')}`
  return {
    named: { txid: from.getId(), vout: 0, value: '5000' },
    told: { txid: hash, index: 0, value: 5_000n, script },
  }
}
const spending = (...allocatorUtxos: readonly object[]) => ({
  additionalData: { 'bitcoin-vm': { allocatorUtxos, feeRate: '5' } },
})

withdrawalFlowCases(
  () => side,
  () => {
    const [first, second] = [utxo(), utxo()]
    const { named } = first
    return {
      owner: owners.segwit,
      currency: native,
      recipient,
      ...spending(first.named, second.named),
      payload: {
        depository,
        currency: native,
        recipient: Buffer.from(outputScript(recipient, bitcoinNetworkOf(network))).toString('base64'),
        data: encodeAbiParameters(utxosType, [{ utxos: [first.told, second.told], feeRate: 5n }]),
      },
      hostile: [
        ['without outputs', { additionalData: undefined }, 'INVALID_WITHDRAW_REQUEST'],
        ['of an output twice', spending(named, named), 'INVALID_WITHDRAW_REQUEST'],
        ['of an output of more value', spending({ ...named, value: '5001' }), 'INVALID_WITHDRAW_REQUEST'],
        ['of an output that is not there', spending({ ...named, vout: 9 }), 'INVALID_WITHDRAW_REQUEST'],
        ['of another depository', spending(utxo('additional').named), 'INVALID_WITHDRAW_REQUEST'],
        ['of no transaction', spending({ ...named, txid: 'zz' }), 'INVALID_TRANSACTION_ID'],
        ['of a missing one', spending({ ...named, txid: 'ab'.repeat(32) }), 'TRANSACTION_MISSING'],
        [
          'to another network',
          { recipient: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' },
          'INVALID_ADDRESS',
        ],
      ],
    }
  },
)

describe('of as many outputs as a request may name', () => {
  withdrawalFlowCases(
    () => side,
    () => {
      const script = depositoryKey.legacy.script
      const from = funding(...Array.from({ length: 256 }, () => ({ script, value: 5_000n })))
      final(from)
      const txid: Hex = `0x${Buffer.from(from.getHash()).toString('hex')}`
      const told = { txid, value: 5_000n, script: `0x${Buffer.from(script).toString('hex')}` } as const
      const indices = from.outs.map((_output, index) => index)
      return {
        owner: owners.segwit,
        currency: native,
        recipient,
        ...spending(...indices.map((vout) => ({ txid: from.getId(), vout, value: '5000' }))),
        payload: {
          depository,
          currency: native,
          recipient: Buffer.from(outputScript(recipient, bitcoinNetworkOf(network))).toString('base64'),
          data: encodeAbiParameters(utxosType, [
            { utxos: indices.map((index) => ({ ...told, index })), feeRate: 5n },
          ]),
        },
        hostile: [],
      }
    },
  )
})

describe.each(['legacy', 'taproot'] as const)('of an owner with a %s account', (kind) => {
  withdrawalFlowCases(
    () => side,
    () => {
      const { named, told } = utxo()
      return {
        owner: owners[kind],
        currency: native,
        recipient,
        ...spending(named),
        payload: {
          depository,
          currency: native,
          recipient: Buffer.from(outputScript(recipient, bitcoinNetworkOf(network))).toString('base64'),
          data: encodeAbiParameters(utxosType, [{ utxos: [told], feeRate: 5n }]),
        },
        hostile: [['without outputs', { additionalData: undefined }, 'INVALID_WITHDRAW_REQUEST']],
      }
    },
  )
})
