// Goal: what a contract call costs is known, and a change of it is seen. Method: each call is sent to a real node
// with fixed parties and amounts, and its gas compared with the committed table.
// After a change on purpose: CAUSEWAY_RECORD=1 npx vitest run --project e2e packages/localnet/test/contractGas.test.ts
import { readFile, writeFile } from 'node:fs/promises'
import { depositoryAbi, fillContractAbi } from '@causeway/contracts'
import { type Hex, orderCloneAddress } from '@causeway/core'
import { encodeFunctionData, erc20Abi } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wrappedNativeAbi } from '../src/contracts/abis.generated.ts'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { testFill } from '../src/contracts/testFill.ts'
import { localAccount } from '../src/keys/generateKeys.ts'
import { type ContractBench, startUserChainBench } from './support/contractBench.ts'

const table = new URL('../../contracts/gas.json', import.meta.url)
/** Full words, so that zero bytes cost nothing less. */
const word = (byte: string): Hex => `0x${byte.repeat(32)}`
const account = (byte: string): Hex => `0x${byte.repeat(20)}`
const orderId = word('0d')
const holder = account('a1')
const deadlineSeconds = 4_000_000_000n

let bench: ContractBench<ChainDeployment>
let measured: Record<string, number>

async function measure(): Promise<Record<string, number>> {
  const { fillContract, depository, tokens, wrappedNative } = bench.deployment
  const solver = bench.keys.fillWallet
  const gas: Record<string, number> = {}
  const send = async (what: string, to: Hex, data: Hex = '0x', valueWei = 0n, from = solver) => {
    gas[what] = Number((await bench.send(from, to, data, valueWei)).gasUsed)
  }
  const transfer = (to: Hex) =>
    encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, 1_000n] })
  const fill = (byte: string, parts: object) =>
    testFill({ orderId, id: word(byte), deadlineSeconds, ...parts })
  // Recipients that hold something already: a new one costs the same in both ways of a token.
  await bench.send(solver, holder, '0x', 1n)
  await bench.send(solver, tokens.USDC, transfer(holder))

  await send('bare native transfer', holder, '0x', 1n)
  await send('bare token transfer', tokens.USDC, transfer(holder))
  await send(
    'fill contract: pay native',
    fillContract,
    fill('11', { natives: [{ to: holder, amount: 1n }] }),
    1n,
  )
  const token = [{ token: tokens.USDC, to: holder, amount: 1_000n }]
  await send('fill contract: pay a token', fillContract, fill('22', { tokens: token }))
  await send(
    'fill contract: pay a token and native',
    fillContract,
    fill('33', { tokens: token, natives: [{ to: holder, amount: 1n }] }),
    1n,
  )
  const deposit = encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' })
  const calls = [{ to: wrappedNative, data: deposit, value: 2n }]
  const terms = { orderSalt: word('5a'), recipient: holder, calls }
  // The address of its clone is calldata, so the filler is the same in every run.
  const filler = localAccount(word('f1'))
  await bench.send(solver, filler.address, '0x', 10n ** 18n)
  const clone = orderCloneAddress({ fillContract, filler: filler.address, ...terms })
  const orderCalls = { ...terms, sweptTokens: [wrappedNative] }
  const filled = fill('44', { natives: [{ to: clone, amount: 2n }], orderCalls })
  await send('fill contract: fill with one call, sweep a token', fillContract, filled, 2n, filler)
  await send(
    'fill contract: close',
    fillContract,
    encodeFunctionData({ abi: fillContractAbi, functionName: 'close', args: [word('55')] }),
  )
  await bench.send(
    solver,
    tokens.USDC,
    encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [depository, 2n ** 255n] }),
  )
  // The first deposit of a token pays for the depository's balance.
  const depositing = encodeFunctionData({
    ...{ abi: depositoryAbi, functionName: 'depositErc20' },
    args: [holder, tokens.USDC, 1_000n, orderId],
  })
  await bench.send(solver, depository, depositing)
  await send('depository: depositErc20', depository, depositing)
  await send(
    'depository: depositNative',
    depository,
    encodeFunctionData({ abi: depositoryAbi, functionName: 'depositNative', args: [holder, orderId] }),
    1n,
  )
  return gas
}

beforeAll(async () => {
  bench = await startUserChainBench()
  measured = await measure()
  if (process.env['CAUSEWAY_RECORD'] === '1') await writeFile(table, `${JSON.stringify(measured, null, 2)}\n`)
})
afterAll(() => bench?.stop())

describe('gas', () => {
  test('is what the committed table says', async () => {
    expect(measured).toEqual(JSON.parse(await readFile(table, 'utf8')))
  })

  test.each([
    ['a token', 'fill contract: pay a token', 'bare token transfer', 34_000],
    ['native coin', 'fill contract: pay native', 'bare native transfer', 40_000],
  ])('a fill of %s without calls costs little more than the bare transfer', (_what, filled, bare, most) => {
    expect((measured[filled] ?? Number.NaN) - (measured[bare] ?? Number.NaN)).toBeLessThanOrEqual(most)
  })
})
