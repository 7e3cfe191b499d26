// Goal: withdrawals on Bitcoin (rule F-135) in every state, each case by name, however the
// spender is found: Esplora alone, a node with a look-up service, a node with the caller's hint. Method: PSBTs
// and transactions signed by bitcoinjs-lib in constructed blocks (`provenance: constructed`).
import type { Hex } from '@causeway/core'
import {
  type BitcoinNode,
  bitcoinBodies,
  ConstructedChain,
  regtest,
  startBitcoinNode,
} from '@causeway/localnet/standIns/bitcoin'
import { Psbt, Transaction } from 'bitcoinjs-lib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  additional,
  additionalKey,
  aSignal,
  depository,
  depositoryKey,
  funding,
  native,
  type Output,
  openChain,
  saying,
  solver,
  user,
} from './bitcoinSupport/bitcoinBed.ts'
import { elsewhere, executed, psbtOf, type Spendable, withdrawalOf } from './bitcoinSupport/withdrawals.ts'

const chain = new ConstructedChain()
const away: Output = { script: solver.witness.script, value: 1n }

let node: BitcoinNode
let lookup: BitcoinNode
beforeAll(async () => {
  ;[node, lookup] = await Promise.all([startBitcoinNode(chain), startBitcoinNode(chain)])
})
afterAll(() => Promise.all([node.stop(), lookup.stop()]))

const owners = {
  primary: { key: depositoryKey, kind: 'legacy' },
  additional: { key: additionalKey, kind: 'witness' },
  other: { key: solver, kind: 'witness' },
} as const satisfies Record<string, Pick<Spendable, 'key' | 'kind'>>

/** A final output of 5,000 satoshi: of the primary depository, the additional one, or somebody else. */
function held(owner: keyof typeof owners = 'primary'): Spendable {
  const { key, kind } = owners[owner]
  const from = funding({ script: key[kind].script, value: 5_000n })
  chain.mine(from)
  chain.mineEmpty(2)
  return { from, vout: 0, key, kind }
}

function final(...transactions: readonly Transaction[]): void {
  chain.mine(...transactions)
  chain.mineEmpty(2)
}

type Asked = { readonly withdrawal: Hex; readonly hint?: string }

const ways = {
  'Esplora alone': ({ withdrawal }: Asked) =>
    openChain({ api: 'esplora', urls: [node.url('esplora')] }).reader.readWithdrawal(
      { withdrawal },
      aSignal(),
    ),
  'a node and a look-up service': ({ withdrawal }: Asked) =>
    openChain({
      api: 'node',
      urls: [node.url('node')],
      lookup: [lookup.url('esplora')],
    }).reader.readWithdrawal({ withdrawal }, aSignal()),
  'a node and a hint': ({ withdrawal, hint }: Asked) => readAtNode(withdrawal, hint),
}

function readAtNode(withdrawal: Hex, hint?: string) {
  const { reader } = openChain({ api: 'node', urls: [node.url('node')] })
  const named = hint === undefined ? {} : { transactionId: hint }
  return reader.readWithdrawal({ withdrawal, ...named }, aSignal())
}

describe.each(Object.entries(ways))('by %s', (_way, read) => {
  test('pending while nothing spends its inputs, with its terms and its block', async () => {
    const psbt = psbtOf({ inputs: [held()] })
    const facts = await read({ withdrawal: withdrawalOf(psbt) })
    expect(facts).toMatchObject({
      status: 'pending',
      depository,
      payingDepositories: [depository],
      currency: native,
      // The output and the fee.
      amount: 5_000n,
      recipient: user.witness.address,
      evidence: { blockNumber: BigInt(chain.tipHeight - 2), finalityRule: '3 confirmations' },
    })
    expect(facts.executingTransactionId).toBeUndefined()
  })

  test('pending while what it spends waits for a block itself', async () => {
    const from = funding({ script: depositoryKey.legacy.script, value: 5_000n })
    chain.announce(from)
    const psbt = psbtOf({ inputs: [{ from, vout: 0, key: depositoryKey, kind: 'legacy' }] })
    expect((await read({ withdrawal: withdrawalOf(psbt) })).status).toBe('pending')
  })

  test('pending while its transaction waits for a block, and for confirmations', async () => {
    const inputs = [held()]
    const psbt = psbtOf({ inputs })
    const transaction = executed(psbt, inputs)
    const asked = { withdrawal: withdrawalOf(psbt), hint: transaction.getId() }
    chain.announce(transaction)
    expect((await read(asked)).status).toBe('pending')
    chain.mine(transaction)
    expect((await read(asked)).status).toBe('pending')
    chain.mineEmpty(1)
    expect((await read(asked)).status).toBe('pending')
    chain.mineEmpty(1)
    expect(await read(asked)).toMatchObject({
      status: 'executed',
      executingTransactionId: transaction.getId(),
    })
  })

  test.each<[string, () => Spendable[]]>([
    ['of a legacy script', () => [held()]],
    ['of a segwit script', () => [held('additional')]],
    ['of two depositories', () => [held(), held('additional')]],
    ['of a depository beside somebody else', () => [held('other'), held()]],
  ])('F-135: executed when the inputs %s are spent as it says', async (_name, spendables) => {
    const inputs = spendables()
    const psbt = psbtOf({ inputs })
    const transaction = executed(psbt, inputs)
    final(transaction)
    expect(await read({ withdrawal: withdrawalOf(psbt), hint: transaction.getId() })).toMatchObject({
      status: 'executed',
      executingTransactionId: transaction.getId(),
      depository,
    })
  })

  test('executed when a taproot input is spent as it says', async () => {
    const key = additionalKey
    const from = funding({ script: key.taproot.script, value: 5_000n })
    final(from)
    const psbt = new Psbt({ network: regtest })
      .addInput({
        hash: from.getId(),
        index: 0,
        witnessUtxo: { script: key.taproot.script, value: 5_000n },
      })
      .addOutput({ script: user.witness.script, value: 1_000n })
    const unsigned = Transaction.fromBuffer(psbt.data.getTransaction())
    const hash = unsigned.hashForWitnessV1(0, [key.taproot.script], [5_000n], Transaction.SIGHASH_DEFAULT)
    const signature = key.signTaproot(hash)
    psbt.updateInput(0, { tapKeySig: signature })
    unsigned.setWitness(0, [signature])
    final(unsigned)
    const chosen = openChain({
      api: 'node',
      urls: [node.url('node')],
      change: { additionalDepositories: [key.taproot.address] },
    })
    const question = { withdrawal: withdrawalOf(psbt), transactionId: unsigned.getId() }
    expect(await chosen.reader.readWithdrawal(question, aSignal())).toMatchObject({
      status: 'executed',
      payingDepositories: [key.taproot.address],
    })
  })

  test('names the depository that pays, and the primary one as its own', async () => {
    const facts = await read({ withdrawal: withdrawalOf(psbtOf({ inputs: [held('additional')] })) })
    expect(facts).toMatchObject({ depository, payingDepositories: [additional] })
  })

  test('expired when another transaction spends its input', async () => {
    const inputs = [held()]
    const spender = elsewhere(inputs, [away])
    final(spender)
    const facts = await read({ withdrawal: withdrawalOf(psbtOf({ inputs })), hint: spender.getId() })
    expect(facts.status).toBe('expired')
    expect(facts.executingTransactionId).toBeUndefined()
  })

  test('expired when two inputs are spent for something else', async () => {
    const inputs = [held(), held('additional')]
    const psbt = psbtOf({ inputs })
    const [first = held(), second = held()] = inputs
    const spender = elsewhere([first, second], [away])
    final(spender)
    expect((await read({ withdrawal: withdrawalOf(psbt), hint: spender.getId() })).status).toBe('expired')
  })

  test('expired when any input is spent elsewhere, also one that is not of a depository', async () => {
    const [ours, others] = [held(), held('other')]
    const spender = elsewhere([others], [away])
    final(spender)
    const psbt = psbtOf({ inputs: [ours, others] })
    expect((await read({ withdrawal: withdrawalOf(psbt), hint: spender.getId() })).status).toBe('expired')
  })

  test('F-135: still pending when the one that spends elsewhere is not final', async () => {
    const inputs = [held()]
    const spender = elsewhere(inputs, [away])
    chain.mine(spender)
    const facts = await read({ withdrawal: withdrawalOf(psbtOf({ inputs })), hint: spender.getId() })
    expect(facts.status).toBe('pending')
  })

  test('executed, unsigned, when what spends its inputs pays the same', async () => {
    const inputs = [held()]
    const psbt = psbtOf({ inputs, signed: [], mark: 'withdrawal 1' })
    const spender = executed(psbt, inputs)
    final(spender)
    expect(await read({ withdrawal: withdrawalOf(psbt), hint: spender.getId() })).toMatchObject({
      status: 'executed',
      executingTransactionId: spender.getId(),
    })
  })

  test('expired, unsigned, when another OP_RETURN is there', async () => {
    const inputs = [held()]
    const spender = elsewhere(inputs, [away, saying('withdrawal 2')])
    final(spender)
    const psbt = psbtOf({ inputs, signed: [], mark: 'withdrawal 1' })
    expect((await read({ withdrawal: withdrawalOf(psbt), hint: spender.getId() })).status).toBe('expired')
  })

  test('unsigned for one of its depository inputs, it is judged by what was paid', async () => {
    const inputs = [held(), held('additional')]
    const psbt = psbtOf({ inputs, signed: [0], mark: 'withdrawal 1' })
    const transaction = executed(psbt, inputs)
    final(transaction)
    expect((await read({ withdrawal: withdrawalOf(psbt), hint: transaction.getId() })).status).toBe(
      'executed',
    )
  })

  test('neither signed nor marked it is judged by what was paid, too', async () => {
    const [inputs, others] = [[held()], [held()]]
    const [own, spender] = [executed(psbtOf({ inputs }), inputs), elsewhere(others, [away])]
    final(own, spender)
    const stateOf = async (spent: readonly Spendable[], hint: string) =>
      (await read({ withdrawal: withdrawalOf(psbtOf({ inputs: spent, signed: [] })), hint })).status
    expect(await stateOf(inputs, own.getId())).toBe('executed')
    expect(await stateOf(others, spender.getId())).toBe('expired')
  })

  test('F-135: stays executed whatever somebody writes for its signatures, version or lock time', async () => {
    const inputs = [held()]
    const psbt = psbtOf({ inputs })
    const transaction = executed(psbt, inputs)
    final(transaction)
    const whole = withdrawalOf(psbt)
    const [{ signature } = { signature: new Uint8Array() }] = psbt.data.inputs[0]?.partialSig ?? []
    const written = Buffer.from(signature).toString('hex')
    const nibble = written.slice(20, 21) === 'a' ? 'b' : 'a'
    const forged: Hex = `0x${whole.slice(2).replace(written, written.slice(0, 20) + nibble + written.slice(21))}`
    expect(forged).not.toBe(whole)
    const later = psbtOf({ inputs, signed: [] }).setVersion(1).setLocktime(7).setInputSequence(0, 1)
    for (const copy of [forged, withdrawalOf(later)]) {
      expect(await read({ withdrawal: copy, hint: transaction.getId() })).toMatchObject({
        status: 'executed',
        executingTransactionId: transaction.getId(),
      })
    }
  })

  test('is refused when it spends nothing of a depository', async () => {
    const asked = { withdrawal: withdrawalOf(psbtOf({ inputs: [held('other')] })) }
    await expect(read(asked)).rejects.toMatchObject({ code: 'INVALID_WITHDRAWAL' })
  })

  test.each<[string, { readonly value?: bigint; readonly script?: Uint8Array }]>([
    ['more value', { value: 9_000n }],
    ['less value', { value: 4_999n }],
    ["a depository's script", { script: additionalKey.witness.script }],
  ])('F-134: is refused when an input claims %s that the chain does not show', async (_name, claim) => {
    const { from } = held(claim.script === undefined ? 'additional' : 'other')
    const true_ = { script: additionalKey.witness.script, value: 5_000n }
    const psbt = new Psbt({ network: regtest })
      .addInput({ hash: from.getId(), index: 0, witnessUtxo: { ...true_, ...claim } })
      .addOutput({ script: user.witness.script, value: 1_000n })
    await expect(read({ withdrawal: withdrawalOf(psbt) })).rejects.toMatchObject({
      code: 'INVALID_WITHDRAWAL',
    })
  })

  test('is refused when its input comes from a transaction that nobody knows', async () => {
    const from = funding({ script: additionalKey.witness.script, value: 5_000n })
    const inputs: Spendable[] = [{ from, vout: 0, key: additionalKey, kind: 'witness' }]
    await expect(read({ withdrawal: withdrawalOf(psbtOf({ inputs })) })).rejects.toMatchObject({
      code: 'TRANSACTION_MISSING',
    })
  })

  test('is refused when its bytes are no PSBT', async () => {
    for (const withdrawal of ['0x', '0x70736274ff', `0x${'00'.repeat(100)}`] as const) {
      await expect(read({ withdrawal })).rejects.toMatchObject({ code: 'INVALID_WITHDRAWAL' })
    }
  })
})

describe('by Esplora or a look-up service', () => {
  test.each(['Esplora alone', 'a node and a look-up service'] as const)(
    'expired when several transactions spend its inputs: %s',
    async (way) => {
      const inputs = [held(), held('additional')]
      const [first = held(), second = held()] = inputs
      final(elsewhere([first], [away]), elsewhere([second], [away]))
      expect((await ways[way]({ withdrawal: withdrawalOf(psbtOf({ inputs })) })).status).toBe('expired')
    },
  )
})

describe('by a node alone', () => {
  test('a spender that nobody names is asked for', async () => {
    const inputs = [held()]
    const psbt = psbtOf({ inputs })
    final(executed(psbt, inputs))
    await expect(readAtNode(withdrawalOf(psbt))).rejects.toMatchObject({
      code: 'SPENDING_TRANSACTION_UNKNOWN',
      kind: 'invalid_request',
    })
  })

  test('a hint that spends something else, or does not exist, is no spender', async () => {
    const inputs = [held()]
    const psbt = psbtOf({ inputs })
    const unrelated = elsewhere([held('other')], [away])
    final(executed(psbt, inputs), unrelated)
    for (const hint of [unrelated.getId(), 'ee'.repeat(32)]) {
      await expect(readAtNode(withdrawalOf(psbt), hint)).rejects.toMatchObject({
        code: 'SPENDING_TRANSACTION_UNKNOWN',
      })
    }
  })

  test('F-132: a look-up service that lies, fails or is silent changes nothing that is said', async () => {
    const inputs = [held()]
    const psbt = psbtOf({ inputs })
    const transaction = executed(psbt, inputs)
    const unrelated = elsewhere([held('other')], [away])
    final(transaction, unrelated)
    const read = (hint?: string) =>
      openChain({
        api: 'node',
        urls: [node.url('node')],
        lookup: [lookup.url('esplora')],
      }).reader.readWithdrawal(
        { withdrawal: withdrawalOf(psbt), ...(hint !== undefined && { transactionId: hint }) },
        aSignal(),
      )
    for (const lie of bitcoinBodies.brokenOutspends.body(unrelated.getId())) {
      lookup.fault(() => ({ status: 200, text: JSON.stringify(lie) }))
      await expect(read()).rejects.toMatchObject({ code: 'SPENDING_TRANSACTION_UNKNOWN' })
      expect((await read(transaction.getId())).status).toBe('executed')
    }
    for (const status of [401, 404, 429, 500]) {
      lookup.fault(() => ({ status, text: 'no' }))
      expect((await read(transaction.getId())).status).toBe('executed')
    }
    lookup.fault(undefined)
  })
})
