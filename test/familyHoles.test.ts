// Goal: the holes of families whose chains the model of the protocol does not have: several ids in one transaction on
// Solana, Bitcoin and Tron, a Token-2022 that keeps a fee, a Bitcoin payout with another signature. Method: the
// shipped pure readers over random transactions, judged by what moved; each once more by the rule as it was before,
// which breaks the same judgement.
import { bytesToHex, type Hex } from '@causeway/core'
import { bitcoinNetworks } from '@causeway/core/encodings'
import {
  depositTokenDiscriminator,
  memoProgram,
  parseBitcoinTransaction,
  token2022Program,
} from '@causeway/families/rules'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  sumTransfers as bitcoinTransfers,
  referencesOrder as onBitcoin,
} from '../packages/families/src/bitcoin/reading/payments.ts'
import { judgeSpender, readWithdrawalTerms } from '../packages/families/src/bitcoin/reading/withdrawals.ts'
import { findDeposits } from '../packages/families/src/solana/reading/deposits.ts'
import {
  referencesOrder as onSolana,
  sumTransfers as solanaTransfers,
} from '../packages/families/src/solana/reading/payments.ts'
import type { SolanaTransaction } from '../packages/families/src/solana/reading/transaction.ts'
import { referencesOrder as onTron } from '../packages/families/src/tron/reading/payments.ts'
import {
  depository,
  depositoryKey,
  funding,
  paying,
  saying,
  solver,
  user,
} from './families/bitcoinSupport/transactions.ts'
import { executed, psbtOf, withdrawalOf } from './families/bitcoinSupport/withdrawals.ts'

const ids = ['a1', 'b2', 'c3'].map((two): Hex => `0x${two.repeat(32)}`)
/** Minimum output of each order. */
const minimum = 900n
const someIds = fc.array(fc.constantFrom(...ids), { maxLength: 3 })

/** Orders that a transaction settles, and the amount that truly came from the solver. */
type Settled = { readonly orders: readonly Hex[]; readonly paid: bigint }

/** I5: one payment is one order's. */
const isSo = ({ orders, paid }: Settled) => BigInt(orders.length) * minimum <= paid

const text = (value: string): Hex => bytesToHex(new TextEncoder().encode(value))
const [solanaSolver, recipient, stranger, mint] = [
  '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2',
  '2FCJft4deG5LuYbobecRJZfKKyeSeFm4pv2tasATSjko',
  '4Nd1mBQtrMJVYVfKf2PJy9NZUZdAsp7D4xWLs4gDB4T3',
  'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
] as const

type SolanaCase = { readonly named: readonly Hex[]; readonly bySolver: bigint; readonly byStranger: bigint }

function solanaTransaction({ named, bySolver, byStranger }: SolanaCase): SolanaTransaction {
  const account = (owner: string, before: bigint, after: bigint) => ({
    account: owner,
    mint,
    ownerBefore: owner,
    ownerAfter: owner,
    before,
    after,
  })
  return {
    transactionId: 'a',
    slot: 1n,
    blockTimeSeconds: 1n,
    succeeded: true,
    signers: [solanaSolver],
    balances: [],
    instructions: named.map((id) => ({ program: memoProgram, accounts: [], data: text(id) })),
    tokenBalances: [
      account(solanaSolver, 10_000n, 10_000n - bySolver),
      account(stranger, 10_000n, 10_000n - byStranger),
      account(recipient, 0n, bySolver + byStranger),
    ],
  }
}

function onSolanaBy(names: typeof onSolana): (taken: SolanaCase) => Settled {
  return (taken) => {
    const transaction = solanaTransaction(taken)
    const targets = [{ recipient, currency: mint }]
    const [paid] = solanaTransfers(transaction, targets, (account) => account === solanaSolver)
    const orders = ids.filter((id) => names(transaction, id) && (paid?.amount ?? 0n) >= minimum)
    return { orders, paid: taken.bySolver }
  }
}

const rules = { network: bitcoinNetworks.regtest, depositories: [depository] }
type BitcoinCase = { readonly named: readonly Hex[]; readonly paid: bigint }

function onBitcoinBy(names: typeof onBitcoin): (taken: BitcoinCase) => Settled {
  return ({ named, paid: value }) => {
    const from = funding({ script: solver.witness.script, value: 10_000n })
    const outputs = [{ script: user.witness.script, value }, ...named.map((id) => saying(id))]
    const sent = paying([{ txid: from.getId(), vout: 0 }], outputs)
    const transaction = parseBitcoinTransaction(sent.toBuffer())
    if (transaction === undefined) throw new Error('the library writes transactions')
    const spent = [{ script: solver.witness.script, value: 10_000n }]
    const currency = 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8'
    const [found] = bitcoinTransfers(
      { transaction, spent },
      [{ recipient: user.witness.address, currency }],
      rules,
    )
    const orders = ids.filter((id) => names(transaction, id) && (found?.amount ?? 0n) >= minimum)
    return { orders, paid: value }
  }
}

type TronCase = { readonly input: readonly Hex[]; readonly memo: readonly Hex[] }

/** A transfer of the minimum, called and noted with ids. */
function onTronBy(names: typeof onTron): (taken: TronCase) => Settled {
  return ({ input, memo }) => {
    const joined = (parts: readonly Hex[]): Hex => `0x${parts.map((part) => part.slice(2)).join('')}`
    const transaction = {
      from: undefined,
      to: undefined,
      value: 0n,
      input: joined(input),
      memo: joined(memo),
    }
    return { orders: ids.filter((id) => names(transaction, id)), paid: minimum }
  }
}

const amounts = fc.bigInt(0n, 2_000n)
const anywhere = (texts: readonly Hex[], id: Hex) => texts.some((one) => one.includes(id.slice(2)))

describe('a transaction that names several orders settles at most one', () => {
  test('on Solana', () => {
    const taken = fc.record({ named: someIds, bySolver: amounts, byStranger: amounts })
    fc.assert(fc.property(taken, (one) => isSo(onSolanaBy(onSolana)(one))))
    const everyMemo: typeof onSolana = ({ instructions }, id) =>
      instructions.some(({ data }) => data.includes(text(id).slice(2)))
    expect(isSo(onSolanaBy(everyMemo)({ named: ids, bySolver: minimum, byStranger: 0n }))).toBe(false)
  })

  test('on Bitcoin', () => {
    const taken = fc.record({ named: someIds, paid: fc.bigInt(1n, 2_000n) })
    fc.assert(fc.property(taken, (one) => isSo(onBitcoinBy(onBitcoin)(one))))
    const everyOutput: typeof onBitcoin = ({ outputs }, id) =>
      outputs.some(({ script }) => bytesToHex(script).includes(text(id).slice(2)))
    expect(isSo(onBitcoinBy(everyOutput)({ named: ids, paid: minimum }))).toBe(false)
  })

  test('on Tron', () => {
    const taken = fc.record({ input: someIds, memo: someIds })
    fc.assert(fc.property(taken, (one) => isSo(onTronBy(onTron)(one))))
    const either: typeof onTron = ({ input, memo }, id) => anywhere([input, memo], id)
    expect(isSo(onTronBy(either)({ input: ids.slice(0, 1), memo: ids.slice(1, 2) }))).toBe(false)
  })
})

describe('a deposit of a Token-2022 that keeps a fee', () => {
  type Sent = { readonly amount: bigint; readonly fee: bigint }
  const vaultAccount = stranger
  const programDepository = recipient

  /** Deposits into the vault's account, each less its fee. */
  const withoutFee = ({ tokenBalances }: SolanaTransaction, sent: bigint) =>
    tokenBalances.map((balance) => ({ ...balance, after: balance.before + sent }))

  function deposits(sent: readonly Sent[], depositsOf: typeof findDeposits = findDeposits) {
    const word = (value: bigint) => {
      const bytes = Buffer.alloc(8)
      bytes.writeBigUInt64LE(value)
      return bytes.toString('hex')
    }
    const accounts = Array.from({ length: 8 }, () => solanaSolver as string)
    accounts[4] = mint
    accounts[6] = vaultAccount
    accounts[7] = token2022Program
    const gained = sent.reduce((sum, { amount, fee }) => sum + amount - (amount * fee) / 100n, 0n)
    const transaction: SolanaTransaction = {
      ...solanaTransaction({ named: [], bySolver: 0n, byStranger: 0n }),
      instructions: sent.map(({ amount }) => ({
        program: programDepository,
        accounts,
        data: `0x${depositTokenDiscriminator}${word(amount)}${'00'.repeat(32)}` as const,
      })),
      tokenBalances: [
        {
          account: vaultAccount,
          mint,
          ownerBefore: 'vault',
          ownerAfter: 'vault',
          before: 7n,
          after: 7n + gained,
        },
      ],
    }
    const addresses = {
      state: 'state',
      vault: 'vault',
      usedRequest: () => '',
      vaultTokenAccount: () => vaultAccount,
    }
    const found = depositsOf(transaction, { depository: programDepository, addresses })
    return { gained, minted: found.reduce((sum, { amount }) => sum + amount, 0n) }
  }

  test('mints what the vault gained and no more', () => {
    const sent = fc.array(fc.record({ amount: fc.bigInt(1n, 10_000n), fee: fc.bigInt(0n, 100n) }), {
      maxLength: 4,
    })
    fc.assert(
      fc.property(sent, (all) => {
        const { gained, minted } = deposits(all)
        expect(minted).toBeLessThanOrEqual(gained)
      }),
    )
    expect(deposits([{ amount: 1_000n, fee: 1n }])).toEqual({ gained: 990n, minted: 990n })
    // By what the instruction says, as before, the hub would owe the fee.
    const asSent: typeof findDeposits = (transaction, rule) =>
      findDeposits({ ...transaction, tokenBalances: withoutFee(transaction, 1_000n) }, rule)
    const { gained, minted } = deposits([{ amount: 1_000n, fee: 1n }], asSent)
    expect(minted).toBeGreaterThan(gained)
  })
})

test('a payout on Bitcoin is what was issued, whichever nibble of a signature the caller changes', () => {
  const from = funding({ script: depositoryKey.legacy.script, value: 100_000n })
  const inputs = [{ from, vout: 0, key: depositoryKey, kind: 'legacy' }] as const
  const psbt = psbtOf({ inputs })
  const spender = parseBitcoinTransaction(executed(psbt, inputs).toBuffer())
  if (spender === undefined) throw new Error('the library writes transactions')
  const signature = Buffer.from(psbt.data.inputs[0]?.partialSig?.[0]?.signature ?? []).toString('hex')
  const whole = withdrawalOf(psbt)
  const start = whole.indexOf(signature)
  expect(start).toBeGreaterThan(0)
  const changed = (place: number): Hex => {
    const digit = Number.parseInt(whole.charAt(place), 16)
    return `0x${`${whole.slice(0, place)}${(digit ^ 1).toString(16)}${whole.slice(place + 1)}`.slice(2)}`
  }
  const rest = { network: bitcoinNetworks.regtest, depositories: [depository] }
  fc.assert(
    fc.property(fc.integer({ min: start + 8, max: start + signature.length - 3 }), (place) => {
      const terms = readWithdrawalTerms(changed(place), rest)
      expect(judgeSpender(terms, spender)).toBe('executed')
    }),
  )
  // By the signature, as before, the payout looks like somebody else's: what was paid would be given back.
  const carries = (bytes: string) =>
    Buffer.from(spender.inputs[0]?.scriptSig ?? [])
      .toString('hex')
      .includes(bytes)
  const other = changed(start + 20)
  expect(carries(signature)).toBe(true)
  expect(carries(other.slice(start, start + signature.length))).toBe(false)
})
