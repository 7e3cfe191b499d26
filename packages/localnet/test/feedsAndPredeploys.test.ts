// Goal: clients that know public chains find the same interfaces here: price feeds, wrapped native
// coin, Multicall3 and the OP stack's gas price oracle. Method: as deployed, on a real node.
import type { Hex } from '@causeway/core'
import { encodeFunctionData, erc20Abi, multicall3Abi, parseEventLogs, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as abis from '../src/contracts/abis.generated.ts'
import type { ChainDeployment } from '../src/contracts/deployment.ts'
import { initialRollupFees } from '../src/deploy/predeploys.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startUserChainBench } from './support/contractBench.ts'

let bench: ContractBench<ChainDeployment>
let user: LocalAccount
let keeper: LocalAccount

beforeAll(async () => {
  bench = await startUserChainBench()
  user = bench.keys.users[0] ?? freshAccount()
  keeper = bench.keys.keeper
})
afterAll(() => bench?.stop())

describe('price feeds', () => {
  const feed = (key: keyof ChainDeployment['feeds']) => ({
    address: bench.deployment.feeds[key],
    abi: abis.priceFeedAbi,
  })
  const latest = () =>
    bench.chain.client.readContract({ ...feed('ETH/USD'), functionName: 'latestRoundData' })
  const setAnswer = (answer: bigint) =>
    encodeFunctionData({ abi: abis.priceFeedAbi, functionName: 'setAnswer', args: [answer] })

  test.each([
    ['ETH/USD', 'ETH / USD', 2_500],
    ['USDC/USD', 'USDC / USD', 1],
    ['USDX/USD', 'USDX / USD', 1],
    ['TIDE/USD', 'TIDE / USD', 4],
    ['SOL/USD', 'SOL / USD', 150],
    ['BTC/USD', 'BTC / USD', 100_000],
    ['TRX/USD', 'TRX / USD', 0.25],
  ] as const)('%s starts with its price in 8 decimals', async (key, description, usd) => {
    const { client } = bench.chain
    const round = await client.readContract({ ...feed(key), functionName: 'latestRoundData' })
    expect(round[1]).toBe(BigInt(usd * 1e8))
    expect(round[3]).toBeGreaterThan(0n)
    expect(await client.readContract({ ...feed(key), functionName: 'decimals' })).toBe(8)
    expect(await client.readContract({ ...feed(key), functionName: 'description' })).toBe(description)
  })

  test('the keeper publishes answers, and the same one again with a new time', async () => {
    const [firstRound] = await latest()
    await bench.send(keeper, feed('ETH/USD').address, setAnswer(251_234_000_000n))
    const moved = await latest()
    expect(moved.slice(0, 2)).toEqual([firstRound + 1n, 251_234_000_000n])

    await bench.chain.node.increaseTime({ seconds: 60 })
    const touch = encodeFunctionData({ abi: abis.priceFeedAbi, functionName: 'touch' })
    const { gasUsed } = await bench.send(keeper, feed('ETH/USD').address, touch)
    const touched = await latest()
    expect(touched.slice(0, 2)).toEqual([firstRound + 2n, 251_234_000_000n])
    expect(touched[3] - moved[3]).toBeGreaterThanOrEqual(60n)
    expect(touched[3]).toBe((await bench.chain.client.getBlock()).timestamp)
    expect(gasUsed).toBeLessThan(35_000n)
  })

  test('answers that readers must refuse can be published', async () => {
    for (const answer of [0n, -1n]) {
      await bench.send(keeper, feed('ETH/USD').address, setAnswer(answer))
      expect((await latest())[1]).toBe(answer)
    }
    expect(await bench.revert(keeper, feed('ETH/USD').address, setAnswer(2n ** 111n))).toBe('AnswerTooLarge')
  })

  test('only the latest round is known, and only the keeper publishes', async () => {
    const [roundId] = await latest()
    const round = (id: bigint) =>
      encodeFunctionData({ abi: abis.priceFeedAbi, functionName: 'getRoundData', args: [id] })
    const { address } = feed('ETH/USD')
    expect((await bench.chain.client.call({ to: address, data: round(roundId) })).data).toMatch(/^0x/)
    expect(await bench.revert(user, address, round(roundId - 1n))).toBe('NoDataPresent')
    expect(await bench.revert(user, address, setAnswer(1n))).toBe('NotOwner')
  })
})

describe('wrapped native coin', () => {
  test('is minted for what is paid in and burnt for what is paid out', async () => {
    const { wrappedNative } = bench.deployment
    const balance = () =>
      bench.chain.client.readContract({
        address: wrappedNative,
        abi: erc20Abi,
        functionName: 'balanceOf',
        args: [user.address],
      })
    const paid = await bench.send(user, wrappedNative, '0x', 100n)
    const logs = parseEventLogs({ abi: abis.wrappedNativeAbi, logs: paid.logs, eventName: 'Deposit' })
    expect(logs.map(({ args }) => args.wad)).toEqual([100n])
    expect(await balance()).toBe(100n)

    const withdraw = (wad: bigint) =>
      encodeFunctionData({ abi: abis.wrappedNativeAbi, functionName: 'withdraw', args: [wad] })
    const before = await bench.chain.client.getBalance({ address: user.address })
    const receipt = await bench.send(user, wrappedNative, withdraw(60n))
    const gasWei = receipt.gasUsed * receipt.effectiveGasPrice
    expect((await bench.chain.client.getBalance({ address: user.address })) - before).toBe(60n - gasWei)
    expect(await balance()).toBe(40n)
    expect(await bench.revert(user, wrappedNative, withdraw(41n))).toBe('InsufficientBalance')
  })

  test('moves by allowance, an endless one without wear', async () => {
    const { wrappedNative } = bench.deployment
    const spender = bench.keys.users[1] ?? freshAccount()
    await bench.send(user, wrappedNative, '0x', 10n)
    const call = (functionName: 'approve' | 'transfer', amount: bigint) =>
      encodeFunctionData({ abi: erc20Abi, functionName, args: [spender.address, amount] })
    const pull = (amount: bigint) =>
      encodeFunctionData({
        abi: erc20Abi,
        functionName: 'transferFrom',
        args: [user.address, spender.address, amount],
      })
    const allowance = () =>
      bench.chain.client.readContract({
        address: wrappedNative,
        abi: erc20Abi,
        functionName: 'allowance',
        args: [user.address, spender.address],
      })
    await bench.send(user, wrappedNative, call('approve', 3n))
    await bench.send(spender, wrappedNative, pull(2n))
    expect(await allowance()).toBe(1n)
    expect(await bench.revert(spender, wrappedNative, pull(2n))).toBe('InsufficientAllowance')

    await bench.send(user, wrappedNative, call('approve', 2n ** 256n - 1n))
    await bench.send(spender, wrappedNative, pull(2n))
    expect(await allowance()).toBe(2n ** 256n - 1n)
    await bench.send(user, wrappedNative, call('transfer', 1n))
  })
})

describe('Multicall3', () => {
  test('has every function of the ABI that clients ship', () => {
    const own = new Set(
      abis.multicall3Abi.map((entry) => (entry.type === 'function' ? toFunctionSelector(entry) : '')),
    )
    const shipped = multicall3Abi.flatMap((entry) => (entry.type === 'function' ? [entry] : []))
    expect(shipped.length).toBeGreaterThan(0)
    for (const entry of shipped)
      expect([entry.name, own.has(toFunctionSelector(entry))]).toEqual([entry.name, true])
  })

  test.each([
    ['aggregate', '0x252dba42'],
    ['aggregate3', '0x82ad56cb'],
    ['aggregate3Value', '0x174dea71'],
    ['blockAndAggregate', '0xc3077fa9'],
    ['getBasefee', '0x3e64a696'],
    ['getBlockHash', '0xee82ac5e'],
    ['getBlockNumber', '0x42cbb15c'],
    ['getChainId', '0x3408e470'],
    ['getCurrentBlockCoinbase', '0xa8b0574e'],
    ['getCurrentBlockDifficulty', '0x72425d9d'],
    ['getCurrentBlockGasLimit', '0x86d516e8'],
    ['getCurrentBlockTimestamp', '0x0f28c97d'],
    ['getEthBalance', '0x4d2301cc'],
    ['getLastBlockHash', '0x27e86d6e'],
    ['tryAggregate', '0xbce38bd7'],
    ['tryBlockAndAggregate', '0x399542e9'],
  ])('%s has the public selector', (name, selector) => {
    const entry = abis.multicall3Abi.find((item) => item.type === 'function' && item.name === name)
    expect(entry?.type === 'function' && toFunctionSelector(entry)).toBe(selector)
  })

  test('answers several questions in one call, the failing one for itself', async () => {
    const { multicall3, tokens } = bench.deployment
    const { client } = bench.chain
    const token = { address: tokens.USDC, abi: abis.tokenAbi } as const
    const results = await client.multicall({
      multicallAddress: multicall3,
      contracts: [
        { ...token, functionName: 'decimals' },
        { ...token, functionName: 'transfer', args: [user.address, 1n] },
        { address: multicall3, abi: abis.multicall3Abi, functionName: 'getEthBalance', args: [user.address] },
      ],
    })
    expect(results.map(({ status }) => status)).toEqual(['success', 'failure', 'success'])
    expect(results[0].result).toBe(6)
    expect(results[2].result).toBe(await client.getBalance({ address: user.address }))
  })

  test('a call that must not fail stops the rest, and values must add up', async () => {
    const { multicall3, tokens } = bench.deployment
    const failing = { target: tokens.USDC, allowFailure: false, callData: '0xdeadbeef' } as const
    const strict = encodeFunctionData({
      abi: abis.multicall3Abi,
      functionName: 'aggregate3',
      args: [[failing]],
    })
    expect(await bench.revert(user, multicall3, strict)).toBe('Error(Multicall3: call failed)')
    const paying = encodeFunctionData({
      abi: abis.multicall3Abi,
      functionName: 'aggregate3Value',
      args: [[{ target: keeper.address, allowFailure: false, value: 3n, callData: '0x' }]],
    })
    expect(await bench.revert(user, multicall3, paying, 4n)).toBe('Error(Multicall3: value mismatch)')
    await bench.send(user, multicall3, paying, 3n)
  })
})

describe('gas price oracle', () => {
  const oracle = () => ({ address: bench.deployment.gasPriceOracle, abi: abis.gasPriceOracleAbi })
  const l1Fee = (data: Hex) =>
    bench.chain.client.readContract({ ...oracle(), functionName: 'getL1Fee', args: [data] })
  // Published test vectors of the OP stack: a plain transfer, and a contract call of 202 compressed bytes.
  const emptyTransaction: Hex = '0xdd80808094095e7baea6a6c7c4c2dfeb977efac326af552d878080808080'
  const contractCall: Hex = `0x02f901550a758302df1483be21b88304743f94f80e51afb613d764fa61751affd3313c190a86bb870151bd62fd12adb8e41ef24f3f${'00'.repeat(31)}6e${'00'.repeat(12)}af88d065e77c8cc2239327c5edb3a432268e5831${'00'.repeat(29)}03c1e5${'00'.repeat(63)}a0${'00'.repeat(31)}148c89ed219d02f1a5be012c689b4f5b731827bebe${'00'.repeat(12)}c001a033fd89cb37c31b2cba46b6466e040c61fc9b2a3675a7f5f493ebd5ad77c497f8a07cdf65680e238392693019b4092f610222e71b7cec06449cb922b93b6a12744e`

  async function set(functionName: 'setL1BaseFee' | 'setBlobBaseFee', wei: bigint): Promise<void> {
    const data = encodeFunctionData({ abi: abis.gasPriceOracleAbi, functionName, args: [wei] })
    await bench.send(keeper, oracle().address, data)
  }

  test('starts with the fees that the deployment wrote into its storage', async () => {
    const { client } = bench.chain
    const fees = initialRollupFees.base
    expect(await client.readContract({ ...oracle(), functionName: 'keeper' })).toMatch(
      new RegExp(keeper.address, 'i'),
    )
    expect(await client.readContract({ ...oracle(), functionName: 'l1BaseFee' })).toBe(fees.l1BaseFeeWei)
    expect(await client.readContract({ ...oracle(), functionName: 'blobBaseFee' })).toBe(fees.blobBaseFeeWei)
    expect(await client.readContract({ ...oracle(), functionName: 'baseFeeScalar' })).toBe(fees.baseFeeScalar)
    expect(await client.readContract({ ...oracle(), functionName: 'blobBaseFeeScalar' })).toBe(
      fees.blobBaseFeeScalar,
    )
    expect(await l1Fee(emptyTransaction)).toBeGreaterThan(0n)
  })

  test('prices the compressed size of a transaction as the OP stack does', async () => {
    const scalars = encodeFunctionData({
      abi: abis.gasPriceOracleAbi,
      functionName: 'setScalars',
      args: [2, 3],
    })
    await bench.send(keeper, oracle().address, scalars)
    await set('setL1BaseFee', 1_000_000_000n)
    await set('setBlobBaseFee', 10_000_000n)
    // Small transactions pay for 100 bytes: 100 × (2·16·10⁹ + 3·10⁷) / 10⁶.
    expect(await l1Fee(emptyTransaction)).toBe(3_203_000n)
    expect(await l1Fee(`0x${'00'.repeat(1_000)}`)).toBe(3_203_000n)
    // 202 compressed bytes and 68 of a signature: −42.5856 + 0.8365 · 270 = 183.2694 bytes.
    expect(await l1Fee(contractCall)).toBe((183_269_400n * 32_030_000_000n) / 10n ** 12n)
  })

  /** The fee of so many compressed bytes at the prices set above, when it is not the least one. */
  const feeOf = (compressedBytes: bigint) =>
    ((836_500n * (compressedBytes + 68n) - 42_585_600n) * 32_030_000_000n) / 10n ** 12n
  /** Bytes without any three in a row that come again. */
  const noise = (length: number, seed: number) =>
    Array.from({ length }, (_, index) => (index * index * 31 + (index >> 3) * 17 + seed) & 255)
  const hex = (bytes: readonly number[]): Hex => `0x${Buffer.from(bytes).toString('hex')}`

  test('charges incompressible bytes in full, with a byte for every run of 32', async () => {
    expect(await l1Fee(hex(noise(900, 0)))).toBe(feeOf(900n + 29n))
    expect(await l1Fee(hex(Array.from({ length: 900 }, () => 7)))).toBe(3_203_000n)
  })

  test.each([
    [8, 2n],
    [9, 3n],
    [264, 3n],
    [265, 5n],
  ])('charges %i bytes that come again as a reference', async (length, referenceBytes) => {
    const first = noise(900, 0)
    const again = first.slice(421, 421 + length)
    const last = noise(64, 101)
    const fee = await l1Fee(hex([...first, ...again, ...last]))
    expect(fee).toBe(feeOf(900n + 29n + referenceBytes + 64n + 2n))
  })

  test('bounds the fee of a size by the published rule', async () => {
    const bound = await bench.chain.client.readContract({
      ...oracle(),
      functionName: 'getL1FeeUpperBound',
      args: [900n],
    })
    // 968 bytes with a signature, 3 for each 255 and 16: −42.5856 + 0.8365 · 987 = 783.0399 bytes.
    expect(bound).toBe((783_039_900n * 32_030_000_000n) / 10n ** 12n)
  })

  test('adds an operator fee when the chain has one', async () => {
    const operatorFee = () =>
      bench.chain.client.readContract({ ...oracle(), functionName: 'getOperatorFee', args: [200_000n] })
    expect(await operatorFee()).toBe(0n)
    const data = encodeFunctionData({
      abi: abis.gasPriceOracleAbi,
      functionName: 'setOperatorFee',
      args: [5_000, 77n],
    })
    await bench.send(keeper, oracle().address, data)
    expect(await operatorFee()).toBe(1_000n + 77n)
  })

  test('only the keeper moves the fees', async () => {
    const data = encodeFunctionData({
      abi: abis.gasPriceOracleAbi,
      functionName: 'setL1BaseFee',
      args: [1n],
    })
    expect(await bench.revert(user, oracle().address, data)).toBe('NotKeeper')
  })
})
