// Goal: what a client signs for Calibur runs here once, for its account and chain alone. Method: Calibur's code
// at its public address on a real node, accounts that delegate to it, batches signed as typed data.
import type { Hex } from '@causeway/core'
import { concatHex, parseEther, toFunctionSelector } from 'viem'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type BatchedCall,
  type BatchTerms,
  caliburAbi,
  caliburAddress,
  signBatch,
} from '../src/contracts/signBatch.ts'
import { placeCalibur } from '../src/deploy/predeploys.ts'
import { localAccount } from '../src/keys/generateKeys.ts'
import { type Anvil, startAnvil } from '../src/nodes/anvil.ts'
import { waitUntilMined } from '../src/nodes/clients.ts'
import { connectLocalChain, type LocalChain } from '../src/nodes/localChain.ts'

const chainId = 8_453
const submitter = localAccount(generatePrivateKey())
const target = localAccount(generatePrivateKey()).address
let anvil: Anvil
let chain: LocalChain

beforeAll(async () => {
  anvil = await startAnvil({ chainId })
  chain = connectLocalChain(anvil.url, chainId)
  await placeCalibur(chain)
  await chain.node.setBalance({ address: submitter.address, value: parseEther('10') })
  // The first block has no time.
  await chain.node.mine({ blocks: 1 })
})
afterAll(() => anvil?.stop())

/** An account with 10 wei that runs the code. */
async function delegated() {
  const account = localAccount(generatePrivateKey())
  await chain.node.setCode({
    address: account.address,
    bytecode: concatHex(['0xef0100', caliburAddress]),
  })
  await chain.node.setBalance({ address: account.address, value: 10n })
  return account
}

const pay = (value: bigint): BatchedCall => ({ to: target, value, data: '0x' })
const paid = () => chain.client.getBalance({ address: target })

async function submit({ to, data }: { readonly to: Hex; readonly data: Hex }): Promise<void> {
  const clients = chain.as(submitter)
  const hash = await clients.walletClient.sendTransaction({ to, data, gas: 300_000n })
  await waitUntilMined(clients, hash, hash)
}

const errorOf = (call: { readonly to: Hex; readonly data: Hex }): Promise<string> =>
  chain.client.call({ account: submitter.address, ...call }).then(
    () => 'none',
    (error: unknown) => String(error),
  )

/** Revert data for an error of the account. */
const named = (error: string) => toFunctionSelector(`${error}()`)

test('the calldata is what clients send to the public contract', async () => {
  const { data } = await signBatch(generatePrivateKey(), [pay(1n)], { chainId })
  expect(data.slice(0, 10)).toBe('0xc3c16ee4')
})

test('a signed batch runs once, whoever submits it, and the next one has the next number', async () => {
  const { privateKey, address } = await delegated()
  const before = await paid()
  const first = await signBatch(privateKey, [pay(1n), pay(2n)], { chainId })
  await submit(first)
  expect((await paid()) - before).toBe(3n)
  expect(await errorOf(first)).toContain(named('InvalidNonce'))
  const sequence = await chain.client.readContract({
    address,
    abi: caliburAbi,
    functionName: 'getSeq',
    args: [0n],
  })
  expect(sequence).toBe(1n)
  await submit(await signBatch(privateKey, [pay(3n)], { chainId, nonce: sequence }))
  expect((await paid()) - before).toBe(6n)
})

test('sequences of other keys are apart', async () => {
  const { privateKey } = await delegated()
  await submit(await signBatch(privateKey, [pay(1n)], { chainId, nonce: 5n << 64n }))
  const again = await signBatch(privateKey, [pay(1n)], { chainId, nonce: 5n << 64n })
  expect(await errorOf(again)).toContain(named('InvalidNonce'))
  expect(await errorOf(await signBatch(privateKey, [pay(1n)], { chainId }))).toBe('none')
})

test('nothing else runs: of another key, chain, account, submitter or time, or changed', async () => {
  const owner = await delegated()
  const other = await delegated()
  const signed = (terms: Partial<BatchTerms>, by = owner) =>
    signBatch(by.privateKey, [pay(1n)], { chainId, ...terms })
  const good = await signed({})
  expect(await errorOf(good)).toBe('none')
  expect(await errorOf({ ...good, to: other.address })).toContain(named('InvalidSignature'))
  expect(await errorOf(await signed({ chainId: 10 }))).toContain(named('InvalidSignature'))
  expect(await errorOf(await signed({ keyHash: `0x${'11'.repeat(32)}` }))).toContain(named('KeyDoesNotExist'))
  expect(await errorOf(await signed({ executor: other.address }))).toContain(named('Unauthorized'))
  expect(await errorOf(await signed({ executor: submitter.address }))).toBe('none')
  expect(await errorOf(await signed({ deadline: 1n }))).toContain(named('SignatureExpired'))
  // CAST: hex in the place of hex.
  const changed = good.data.replace(target.slice(2), other.address.slice(2)) as Hex
  expect(changed).not.toBe(good.data)
  expect(await errorOf({ ...good, data: changed })).toContain(named('InvalidSignature'))
})

test('one call that fails takes the whole batch back', async () => {
  const { privateKey } = await delegated()
  const batch = await signBatch(privateKey, [pay(1n), pay(100n)], { chainId })
  expect(await errorOf(batch)).toContain(toFunctionSelector('CallFailed(bytes)'))
})
