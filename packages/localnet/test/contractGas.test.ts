// Goal: what a contract call costs is known, and a change of it is seen. Method: each call is sent to a real node
// with fixed parties and amounts, and its gas compared with the committed table.
// After a change on purpose: CAUSEWAY_RECORD=1 npx vitest run --project e2e packages/localnet/test/contractGas.test.ts
import { readFile, writeFile } from 'node:fs/promises'
import { cleanupRouterAbi, depositoryAbi, fillContractAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { orderCloneAddress, permit2Address } from '@causeway/families/rules'
import { encodeFunctionData, erc20Abi, keccak256, toHex, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { wrappedNativeAbi } from '../src/contracts/abis.generated.ts'
import type { ChainDeployment, HubDeployment } from '../src/contracts/deployment.ts'
import { testFill } from '../src/contracts/testFill.ts'
import { generateLocalKeys, localAccount } from '../src/keys/generateKeys.ts'
import { type ContractBench, startHubBench, startUserChainBench } from './support/contractBench.ts'
import * as routed from './support/routedCalls.ts'

const table = new URL('../../contracts/gas.json', import.meta.url)
/** Full words, so that zero bytes cost nothing less. */
const word = (byte: string): Hex => `0x${byte.repeat(32)}`
const account = (byte: string): Hex => `0x${byte.repeat(20)}`
const orderId = word('0d')
const holder = account('a1')
const deadlineSeconds = 4_000_000_000n

let bench: ContractBench<ChainDeployment>
let hub: ContractBench<HubDeployment>
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
  await bench.chain.node.setBalance({ address: filler.address, value: 10n ** 20n })
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
    abi: depositoryAbi,
    functionName: 'depositErc20',
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
  const { cleanupRouter, depositRouter, permitRouter, permit2Router, depositAddresses } = bench.deployment
  const [user] = bench.keys.users
  if (user === undefined) throw new Error('no user')
  await bench.send(
    solver,
    tokens.USDC,
    encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [depositRouter, 2n ** 255n] }),
  )
  for (const kind of ['swapAndDeposit', 'swapAndPay'] as const) {
    // A pool writes its price in a new second alone.
    const { timestamp } = await bench.chain.client.getBlock()
    await bench.chain.node.setNextBlockTimestamp({ timestamp: timestamp + 100n })
    await send(`deposit router: ${kind}, one pool`, depositRouter, routed.swap(bench, kind, solver.address))
  }
  for (const kind of ['eip3009', 'eip2612'] as const) {
    await send(
      `permit router: deposit by ${kind}`,
      permitRouter.contract,
      await routed.permittedDeposit(bench, user, kind),
    )
  }
  await bench.send(
    user,
    tokens.USDC,
    encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [permit2Address, 2n ** 255n] }),
  )
  const permitted = await routed.permit2Deposit(bench, user, solver.address)
  await send('permit2 router: deposit', permit2Router, permitted)
  await bench.send(solver, tokens.USDC, transfer(cleanupRouter))
  await send('cleanup router: hand on a token', cleanupRouter, routed.cleanup(bench, holder))
  await bench.send(solver, tokens.USDC, transfer(cleanupRouter))
  await send('cleanup router: deposit a token', cleanupRouter, routed.cleanupViaCall(bench, holder))
  const natives = { abi: cleanupRouterAbi, functionName: 'cleanupNative' } as const
  await bench.send(solver, cleanupRouter, '0x', 2n)
  await send(
    'cleanup router: hand on native',
    cleanupRouter,
    encodeFunctionData({ ...natives, args: [1n, holder] }),
  )
  await send(
    'cleanup router: call with native',
    cleanupRouter,
    encodeFunctionData({ ...natives, functionName: 'cleanupNativeViaCall', args: [1n, holder, '0x'] }),
  )
  const parties = { signer: user, sweeper: solver, recipient: user.address }
  for (const [what, currency] of [['native', zeroAddress] as const, ['a token', tokens.USDC] as const]) {
    const { address, data, withdrawing } = await routed.sweep(bench, parties, currency)
    const pay = () =>
      currency === zeroAddress
        ? bench.send(solver, address, '0x', 1_000n)
        : bench.send(solver, currency, transfer(address))
    await pay()
    await send(`deposit addresses: sweep ${what}`, depositAddresses.contract, data)
    await pay()
    await send(`deposit addresses: withdraw ${what}`, depositAddresses.contract, withdrawing, 0n, user)
  }
  const exchanged = await routed.sweepAndSwap(bench, parties)
  await bench.send(solver, tokens.USDC, transfer(exchanged.address))
  await send('deposit addresses: swap and sweep, one pool', depositAddresses.contract, exchanged.data)
  await send('depository: execute one payment', depository, await routed.payout(bench, holder))
  const signer = encodeFunctionData({ abi: depositoryAbi, functionName: 'setAllocator', args: [holder] })
  await send('depository: setAllocator', depository, signer, 0n, bench.keys.deployer)
  return gas
}

async function measureHub(): Promise<Record<string, number>> {
  const { oracle, allocator, genericMapping } = hub.deployment
  const { fillWallet, allocator: signer } = hub.keys
  const gas: Record<string, number> = {}
  const send = async (what: string, to: Hex, data: Hex, from = fillWallet) => {
    gas[what] = Number((await hub.send(from, to, data)).gasUsed)
  }
  const accounts = [account('b1'), account('b2')] as const
  for (const kind of ['mint', 'transfer', 'burn'] as const)
    await send(`oracle contract: execute one ${kind}`, oracle, await routed.execution(hub, kind, accounts))
  await send('oracle contract: execute two mints', oracle, await routed.executions(hub, accounts[1]))
  await hub.chain.node.setBalance({ address: signer.address, value: 10n ** 20n })
  for (const [family, request] of Object.entries(routed.withdrawRequests(hub.artifacts, holder))) {
    const { submit, store } = await routed.withdrawal(hub, request)
    await send(`allocator: submitWithdrawRequest, ${family}`, allocator, submit)
    if (family === 'EVM') await send('allocator: storeSignature', allocator, store, signer)
  }
  await send('generic mapping: setEntry', genericMapping, routed.entry())
  for (const [what, owned, data] of routed.ownersCalls(hub.deployment, accounts))
    await send(what, owned, data, hub.keys.deployer)
  return gas
}

/** Keys of this table alone: signatures are calldata, and every zero byte in it costs less. */
function fixedKeys() {
  let count = 0
  return generateLocalKeys(() => {
    count += 1
    return keccak256(toHex(`gas table ${count}`))
  })
}

beforeAll(async () => {
  ;[bench, hub] = await Promise.all([startUserChainBench(fixedKeys()), startHubBench(fixedKeys())])
  measured = { ...(await measure()), ...(await measureHub()) }
  if (process.env['CAUSEWAY_RECORD'] === '1') await writeFile(table, `${JSON.stringify(measured, null, 2)}\n`)
})
afterAll(async () => {
  await bench?.stop()
  await hub?.stop()
})

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
