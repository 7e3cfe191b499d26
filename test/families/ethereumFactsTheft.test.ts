// Goal: a solver who takes something back from whom he pays, in the transaction that pays, has paid nothing. Method: each
// trade is run on a real node with the real fill contract and tokens whose hooks run code of the solver's choice, and the
// reader asked as the rules ask it.
import { encodeFillExtraData, type Hex, type PaymentQuestion } from '@causeway/core'
import { encodeTransfer } from '@causeway/families/rules'
import {
  type LocalAccount,
  loadArtifacts,
  multicall3Abi,
  randomWord,
  testFill,
  tokenAbi,
} from '@causeway/localnet'
import { concatHex, encodeFunctionData, keccak256, pad, parseAbi, stringToHex, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { aSignal, type ChainBed, readerOf, startChainBed } from './ethereumSupport/chainBed.ts'

const native: Hex = `0x${'00'.repeat(20)}`
const enough = 900n
const hookAbi = parseAbi([
  'function set(uint8 habit, address blocked)',
  'function arm(address target, bytes data)',
  'function mint(address to, uint256 amount)',
])
const [none, callback, fee] = [0, 1, 2] as const

/** Writes a log whose only topic is the first word of calldata and whose data is the rest. */
const oneTopicCode: Hex = '0x602036038060205f375f35905fa100'
/** As above, with four topics. */
const fourTopicsCode: Hex = '0x608036038060805f376060356040356020355f35845fa400'
/** Writes a log, then gives the caller all of its coin, as a smart account that runs a signed operation. */
const givesCoinCode: Hex = '0x5f5fa05f5f5f5f47335af100'

const old = { address: `0x${'b1'.repeat(20)}`, code: oneTopicCode } as const
const claims = { address: `0x${'b4'.repeat(20)}`, code: fourTopicsCode } as const
/** A token whose hook runs what the solver armed it with. */
const hooked: Hex = `0x${'e7'.repeat(20)}`

let bed: ChainBed
let solver: LocalAccount
let owner: LocalAccount
let usdc: Hex
let usdx: Hex
let fillContract: Hex
let multicall3: Hex
let orderId: Hex
beforeEach(async () => {
  orderId = randomWord()
  await habit(none)
})

beforeAll(async () => {
  bed = await startChainBed()
  const [first, second] = bed.network.keys.users
  if (first === undefined || second === undefined) throw new Error('no users')
  ;[owner, solver] = [first, bed.network.keys.fillWallet]
  ;({ fillContract, multicall3 } = bed.deployment)
  ;({ USDC: usdc, USDX: usdx } = bed.deployment.tokens)
  const { HostileToken } = await loadArtifacts()
  await setCode(hooked, HostileToken.runtimeBytecode)
  for (const { address, code } of [old, claims]) await setCode(address, code)
  await bed.send(solver, hooked, hook('mint', solver.address, 2n ** 100n))
  for (const token of [usdc, hooked]) {
    await bed.send(solver, token, approval(multicall3))
    await bed.send(solver, token, approval(fillContract))
  }
})
afterAll(() => bed?.stop())

const setCode = (address: Hex, code: Hex) => bed.node('anvil_setCode', [address, code])
const approval = (spender: Hex) =>
  encodeFunctionData({ abi: tokenAbi, functionName: 'approve', args: [spender, 2n ** 255n] })
const pull = (to: Hex, amount = enough) =>
  encodeFunctionData({ abi: tokenAbi, functionName: 'transferFrom', args: [solver.address, to, amount] })
const hook = (functionName: 'mint', to: Hex, amount: bigint) =>
  encodeFunctionData({ abi: hookAbi, functionName, args: [to, amount] })
const habitData = (kind: number) =>
  encodeFunctionData({ abi: hookAbi, functionName: 'set', args: [kind, usdc] })
const habit = (kind: number) => bed.send(solver, hooked, habitData(kind))

type Step = { readonly target: Hex; readonly callData: Hex }
function together(steps: readonly Step[]): Hex {
  const args = [steps.map((step) => ({ ...step, value: 0n, allowFailure: false }))] as const
  return encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3Value', args })
}

/** Whatever happens the next time that the hooked token moves, and only then. */
async function whenItMoves(steps: readonly Step[]): Promise<void> {
  const data = together([{ target: hooked, callData: habitData(none) }, ...steps])
  const arm = encodeFunctionData({ abi: hookAbi, functionName: 'arm', args: [multicall3, data] })
  await bed.send(solver, hooked, arm)
  await habit(callback)
}

/** An NFT of the time before indexed events, and ERC-6909 claims, that the recipient gives the solver. */
const oldNft = (from: Hex): Step => ({
  target: old.address,
  callData: concatHex([
    keccak256(stringToHex('Transfer(address,address,uint256)')),
    ...[pad(from), pad(solver.address), toHex(7n, { size: 32 })],
  ]),
})
const claimsOf = (from: Hex): Step => ({
  target: claims.address,
  callData: concatHex([
    keccak256(stringToHex('Transfer(address,address,address,uint256,uint256)')),
    ...[pad(from), pad(solver.address), toHex(7n, { size: 32 }), pad(multicall3), toHex(5n, { size: 32 })],
  ]),
})

/** The recipient's own signed payment of a token to the solver, which anybody may hand in. */
async function authorized(token: Hex, from: LocalAccount): Promise<Step> {
  const { client, chainId } = bed.chain
  const [name, version] = await Promise.all([
    client.readContract({ address: token, abi: tokenAbi, functionName: 'name' }),
    client.readContract({ address: token, abi: tokenAbi, functionName: 'version' }),
  ])
  const [uint256, nonce] = ['uint256', randomWord()] as const
  const signature = await privateKeyToAccount(from.privateKey).signTypedData({
    domain: { name, version, chainId, verifyingContract: token },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: uint256 },
        { name: 'validAfter', type: uint256 },
        { name: 'validBefore', type: uint256 },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      from: from.address,
      to: solver.address,
      value: enough,
      validAfter: 0n,
      validBefore: 2n ** 40n,
      nonce,
    },
  })
  const args = [from.address, solver.address, enough, 0n, 2n ** 40n, nonce, signature] as const
  const functionName = 'transferWithAuthorization'
  return { target: token, callData: encodeFunctionData({ abi: tokenAbi, functionName, args }) }
}

async function paid(
  { transactionId }: { readonly transactionId: Hex },
  payments: PaymentQuestion['payments'],
  extraData = encodeFillExtraData(fillContract),
) {
  await bed.mine(2)
  const question = { transactionId, orderId, extraData, payments }
  const facts = await readerOf(bed).reader.readPayment(question, aSignal())
  expect(facts.referencesOrder).toBe(true)
  return { ...facts, amounts: facts.transfers.map(({ amount }) => amount) }
}
const inToken = (recipient: Hex, currency: string = usdc) => [{ recipient, currency }]

const batch = (...steps: readonly Step[]) =>
  bed.send(solver, multicall3, concatHex([together(steps), orderId]))
const pay = (tokens: readonly { readonly token: Hex; readonly to: Hex; readonly amount: bigint }[]) =>
  bed.send(solver, fillContract, testFill({ orderId, tokens }))

describe('a token of the solver’s own inside pay', () => {
  test.each<[string, () => Promise<readonly Step[]>]>([
    ['settles the recipient’s limit order', async () => [oldNft(owner.address)]],
    ['hands in the recipient’s own EIP-3009 payment', async () => [await authorized(usdx, owner)]],
    ['hands in the EIP-3009 payment of the same token', async () => [await authorized(usdc, owner)]],
  ])('P-41: that %s proves nothing', async (_what, steps) => {
    await whenItMoves(await steps())
    const sent = await pay([
      { token: usdc, to: owner.address, amount: enough },
      { token: hooked, to: owner.address, amount: 1n },
    ])
    const facts = await paid(sent, inToken(owner.address))
    expect(facts).toMatchObject({ recordProblem: 'other_payments', amounts: [0n] })
  })

  test('P-41: that opens and closes a settlement that believes balances around the payment proves nothing', async () => {
    const sent = await pay([
      { token: hooked, to: multicall3, amount: 1n },
      { token: usdc, to: owner.address, amount: enough },
      { token: hooked, to: multicall3, amount: 2n },
    ])
    const facts = await paid(sent, inToken(owner.address))
    expect(facts).toMatchObject({ recordProblem: 'other_payments', amounts: [0n] })
  })
})

test('P-41: a token that takes a fee counts with what its logs carry', async () => {
  await habit(fee)
  const sent = await pay([{ token: hooked, to: owner.address, amount: 1_000n }])
  expect((await paid(sent, inToken(owner.address, hooked))).amounts).toEqual([990n])
})

test('P-42: what a hook of the sender moves around transfer(recipient, 1) does not count', async () => {
  await whenItMoves([{ target: hooked, callData: pull(owner.address, 899n) }])
  const sent = await bed.send(solver, hooked, concatHex([encodeTransfer(owner.address, 1n), orderId]))
  expect((await paid(sent, inToken(owner.address, hooked))).amounts).toEqual([1n])
})

test('P-42: value to a delegated account whose code pays the caller does not count', async () => {
  const [account, code]: [Hex, Hex] = [`0x${'d7'.repeat(20)}`, `0x${'d8'.repeat(20)}`]
  await setCode(code, givesCoinCode)
  await setCode(account, concatHex(['0xef0100', code]))
  const sent = await bed.send(solver, account, orderId, 5n)
  expect((await paid(sent, inToken(account, native))).amounts).toEqual([0n])
})

describe('in a batch', () => {
  test.each<[string, (from: Hex) => Step]>([
    ['an old NFT', oldNft],
    ['ERC-6909 claims', claimsOf],
  ])('P-43: a recipient who gives %s for the tokens was paid nothing', async (_what, given) => {
    const payment = { target: usdc, callData: pull(owner.address) }
    expect((await paid(await batch(payment, given(owner.address)), inToken(owner.address))).amounts).toEqual([
      0n,
    ])
  })

  test('P-43: a smart account that gives coin for the tokens, and says so, was paid nothing', async () => {
    const account: Hex = `0x${'5a'.repeat(20)}`
    await bed.node('anvil_setBalance', [account, '0x100'])
    await setCode(account, givesCoinCode)
    const sent = await batch({ target: usdc, callData: pull(account) }, { target: account, callData: '0x' })
    expect((await paid(sent, inToken(account))).amounts).toEqual([0n])
  })

  test('P-43: the recipient’s own EIP-3009 payment leaves nothing paid', async () => {
    const sent = await batch({ target: usdc, callData: pull(owner.address) }, await authorized(usdx, owner))
    expect((await paid(sent, inToken(owner.address))).amounts).toEqual([0n])
  })

  test('P-43: a deposit to a vault, which gives shares for it, pays the vault nothing', async () => {
    await bed.send(solver, hooked, hook('mint', multicall3, 5n))
    const shares = encodeTransfer(solver.address, 5n)
    const sent = await batch({ target: usdc, callData: pull(hooked) }, { target: hooked, callData: shares })
    expect((await paid(sent, inToken(hooked))).amounts).toEqual([0n])
  })
})
