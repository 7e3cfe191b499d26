// Goal: the hub's ledger moves by its operator alone, and the generic mapping keeps what was written
// first. Method: as deployed, on a real node.

import { genericMappingAbi, hubAbi, hubOracleAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData, pad } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HubDeployment } from '../src/contracts/deployment.ts'
import type { LocalAccount } from '../src/keys/localKeys.ts'
import { type ContractBench, freshAccount, startHubBench } from './support/contractBench.ts'

const tokenId = 7n

let bench: ContractBench<HubDeployment>
let anyone: LocalAccount

beforeAll(async () => {
  bench = await startHubBench()
  anyone = bench.keys.fillWallet
})
afterAll(() => bench?.stop())

describe('the ledger', () => {
  test('is moved by the oracle contract alone', async () => {
    const holder = freshAccount().address
    const { hub, oracle } = bench.deployment
    const direct = encodeFunctionData({
      abi: hubAbi,
      functionName: 'mint',
      args: [holder, tokenId, 1n],
    })
    expect(await bench.revert(anyone, hub, direct)).toBe('NotOperator')
    expect(await bench.revert(bench.keys.deployer, hub, direct)).toBe('NotOperator')
    const claimed = await bench.chain.client.readContract({
      address: oracle,
      abi: hubOracleAbi,
      functionName: 'HUB',
    })
    expect(claimed.toLowerCase()).toBe(hub)
  })

  test('gains and loses operators by its owner alone', async () => {
    const { hub } = bench.deployment
    const { deployer } = bench.keys
    const role = await bench.chain.client.readContract({
      address: hub,
      abi: hubAbi,
      functionName: 'OPERATOR_ROLE',
    })
    const change = (functionName: 'grantRole' | 'revokeRole') =>
      encodeFunctionData({ abi: hubAbi, functionName, args: [role, anyone.address] })
    const direct = encodeFunctionData({
      abi: hubAbi,
      functionName: 'mint',
      args: [anyone.address, tokenId, 1n],
    })
    expect(await bench.revert(anyone, hub, change('grantRole'))).toBe('NotOwner')
    await bench.send(deployer, hub, change('grantRole'))
    await bench.send(anyone, hub, direct)
    await bench.send(deployer, hub, change('revokeRole'))
    expect(await bench.revert(anyone, hub, direct)).toBe('NotOperator')
  })
})

describe('the generic mapping', () => {
  const id = pad('0x1d', { size: 32 })
  const entryOf = (user: Hex) =>
    bench.chain.client.readContract({
      address: bench.deployment.genericMapping,
      abi: genericMappingAbi,
      functionName: 'getEntry',
      args: [user, id],
    })

  test('keeps the first entry of a user with its time', async () => {
    const { genericMapping } = bench.deployment
    expect(await entryOf(anyone.address)).toEqual(['0x', 0n])
    const set = encodeFunctionData({
      abi: genericMappingAbi,
      functionName: 'setEntry',
      args: [id, '0xc0ffee'],
    })
    await bench.send(anyone, genericMapping, set)
    const { timestamp } = await bench.chain.client.getBlock()
    expect(await entryOf(anyone.address)).toEqual(['0xc0ffee', timestamp])
    expect(await bench.revert(anyone, genericMapping, set)).toBe('EntryExists')
  })

  test('takes entries for an alias from an operator', async () => {
    const { genericMapping } = bench.deployment
    const alias = freshAccount().address
    const set = encodeFunctionData({
      abi: genericMappingAbi,
      functionName: 'setEntryFor',
      args: [alias, id, '0x01'],
    })
    expect(await bench.revert(anyone, genericMapping, set)).toBe('NotOperator')
    await bench.send(bench.keys.deployer, genericMapping, set)
    expect((await entryOf(alias))[0]).toBe('0x01')
  })
})
