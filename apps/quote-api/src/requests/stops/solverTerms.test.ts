// Goal: what a solver would refuse is named, and nothing else. Attackers: one of several solvers under the key, which
// contradicts or names too little; another spelling of one address, which would stop sales for nothing.
import { expect, test } from 'vitest'
import { differencesOf, floorsOf, type OwnTerms, type SolverTerms } from './solverTerms.ts'

const signer = '0x00000000000000000000000000000000000000aB'
const wallet = '0x00000000000000000000000000000000000000f1'
const contract = '0x00000000000000000000000000000000000000c1'
const own: OwnTerms = {
  orderSigner: signer,
  chains: [
    { chainId: 8_453, key: 'base', fillWallet: wallet, fillContract: contract },
    { chainId: 7, key: 'solana', fillWallet: 'So1ana', fillContract: undefined },
  ],
  sponsoredMicroUsd: 10_000_000n,
}
const onBase = { chainId: 8_453, wallet: wallet.toUpperCase().replace('0X', '0x'), fillContract: contract }
const onSolana = { chainId: 7, wallet: 'So1ana' }
const agreeing: SolverTerms = {
  orderSigners: [`0x${'11'.repeat(20)}`, signer.toLowerCase()],
  pays: [onBase, onSolana, { chainId: 10, wallet }],
  lossPerOrderMicroUsd: '10000000',
}

const named = (...told: readonly (SolverTerms | undefined)[]) =>
  differencesOf(own, told).map(({ kind, chainId, isStopping }) => [kind, chainId, isStopping])

test('O-83: equal settings are no difference, whatever their spelling, and more than is sold neither', () => {
  expect(named(agreeing)).toEqual([])
})

test('O-83: each setting that differs is named with its chain and both sides, and base58 has one spelling', () => {
  expect(named({ ...agreeing, orderSigners: [wallet] })).toEqual([['order-signer', 0, true]])
  expect(named({ ...agreeing, pays: [{ ...onBase, wallet: signer }, onSolana] })).toEqual([
    ['fill-wallet', 8_453, true],
  ])
  expect(named({ ...agreeing, pays: [{ chainId: 8_453, wallet }, onSolana] })).toEqual([
    ['fill-contract', 8_453, true],
  ])
  expect(named({ ...agreeing, pays: [onBase, { ...onSolana, wallet: 'so1ana' }] })).toEqual([
    ['fill-wallet', 7, true],
  ])
  const [difference] = differencesOf(own, [{ ...agreeing, orderSigners: [wallet] }])
  expect(difference?.text).toContain(`${signer}, and the solver accepts ${wallet}`)
})

test('L-29: a replica that still names a replaced contract goes on where the solver pays through it', () => {
  const [now, other] = [`0x${'c2'.repeat(20)}`, `0x${'c3'.repeat(20)}`]
  const through = (...contracts: readonly string[]) => ({
    ...agreeing,
    pays: [...contracts.map((fillContract) => ({ ...onBase, fillContract })), onSolana],
  })
  expect(named(through(now, contract))).toEqual([])
  expect(named(through(now, other))).toEqual([['fill-contract', 8_453, true]])
})

test('O-83: a loss that the solver does not bear is named, and stops nothing', () => {
  expect(named({ ...agreeing, lossPerOrderMicroUsd: '9999999' })).toEqual([['loss-limit', 0, false]])
})

test('O-83: a wallet that shares the market by turns is as good as its own', () => {
  const shared = {
    ...agreeing,
    pays: [{ ...onBase, wallet: signer }, onSolana],
    sharedWallets: [signer, wallet],
  }
  expect(named(shared)).toEqual([])
})

test('O-84: what one of several solvers contradicts counts', () => {
  expect(named(agreeing, { ...agreeing, orderSigners: [wallet] })).toEqual([['order-signer', 0, true]])
})

test('O-84: a chain is paid on where one solver pays, and by one that does not say where it pays', () => {
  const paysBase = { ...agreeing, pays: [onBase] }
  expect(named(paysBase)).toEqual([['chain-unpaid', 7, true]])
  expect(named(paysBase, { pays: [onSolana] })).toEqual([])
  expect(named(paysBase, { orderSigners: [signer] })).toEqual([])
  expect(named(paysBase, undefined)).toEqual([])
})

test('Q-132: of several floors of a currency the largest counts, whatever its spelling', () => {
  const floor = (currency: string, amount: string) => ({ floors: [{ chainId: 10, currency, amount }] })
  expect([...floorsOf([floor('0xAB', '5'), undefined, {}, floor('0xab', '7'), floor('Sol', '1')])]).toEqual([
    ['10:0xab', 7n],
    ['10:Sol', 1n],
  ])
})

test('O-82: of a solver that says nothing, or of none, nothing is named', () => {
  expect(named(undefined)).toEqual([])
  expect(named()).toEqual([])
})
