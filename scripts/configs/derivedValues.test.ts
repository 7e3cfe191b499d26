// Goal: values that follow from others are the ones that follow, so that no typing error loses money.
import { join } from 'node:path'
import { fillContractAddress, publicCodes } from '@causeway/contracts/codes'
import { hexToBytes, keccak256Hex } from '@causeway/core'
import { isContractChain } from '@causeway/core/config'
import { codecOf, mainNetwork } from '@causeway/core/encodings'
import { addressWord, uintWord } from '@causeway/families/rules'
import { describe, expect, test } from 'vitest'
import { environments, parseConfigSet, readRawConfigSet } from './configFiles.ts'
import { root } from './writeJson.ts'

const configs = environments.map((environment) => {
  const raw = readRawConfigSet(join(root, 'configs'), environment)
  return { environment, ...parseConfigSet(environment, raw) }
})

/** Hash of the creation code of UniswapV3Pool. @source Uniswap v3-periphery, PoolAddress.sol */
const poolInitCodeHash = 'e34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54'

const isNamed = (codeHashes: Readonly<Record<string, string>> | undefined, address: string) =>
  codeHashes?.[address] !== undefined

describe('values that follow from others', () => {
  test.each(configs)('O-146: pools of $environment are where their factory creates them', ({ quote }) => {
    for (const { uniswapV3 } of Object.values(quote.chains)) {
      for (const { address, token0, token1, feePips } of uniswapV3?.pools ?? []) {
        const words = [addressWord(token0), addressWord(token1), uintWord(BigInt(feePips))]
        const salt = keccak256Hex(hexToBytes(`0x${words.join('')}`)).slice(2)
        const factory = uniswapV3?.factory.slice(2)
        const hash = keccak256Hex(hexToBytes(`0xff${factory}${salt}${poolInitCodeHash}`))
        expect(`0x${hash.slice(26)}`).toBe(address)
      }
    }
  })

  test.each(configs)('fill contracts of $environment are where the command puts them', (config) => {
    const { environment, chains, quote } = config
    const own = fillContractAddress(environment)
    for (const [key, chain] of Object.entries(quote.chains)) {
      const { enabled, fillContract } = chain
      if (!enabled || !isContractChain(chain)) continue
      expect([key, fillContract]).toEqual([key, own])
      expect(chains.chains.find(({ id }) => id === key)?.fillContracts).toContain(own)
    }
  })

  test.each(configs.filter(({ environment }) => environment !== 'local'))(
    'no code of $environment is left uncompared that is known, and none is uncompared in silence',
    ({ chains, hub }) => {
      const known = new Set<string>(publicCodes.flatMap(({ addresses }) => addresses))
      for (const { id, vmType, depository = '', additionalDepositories = [], codeHashes } of chains.chains) {
        if (vmType !== 'ethereum-vm') continue
        for (const address of [depository, ...additionalDepositories])
          expect([id, address, isNamed(codeHashes, address)]).toEqual([id, address, !known.has(address)])
      }
      const { hubAddress, oracleAddress, oracleMultisigAddress, genericMappingAddress } = hub
      for (const address of [hubAddress, oracleAddress, oracleMultisigAddress, genericMappingAddress])
        if (address !== undefined)
          expect([address, isNamed(hub.codeHashes, address)]).toEqual([address, !known.has(address)])
    },
  )

  test.each(configs)('hub chain ids of $environment are chain ids or hashes of names', (config) => {
    const { environment, chains } = config
    // The stand-in of Tron must not be taken for a public network: its id is the text TRON.
    const tron = environment === 'local' ? String(0x54524f4e) : '728126428'
    for (const { id, vmType, hubChainId } of chains.chains) {
      if (vmType === 'ethereum-vm') expect(Number.isSafeInteger(Number(hubChainId))).toBe(true)
      else if (vmType === 'tron-vm') expect(hubChainId).toBe(tron)
      else expect(BigInt(hubChainId)).toBe(BigInt(keccak256Hex(Buffer.from(id, 'utf8'))))
    }
  })

  test.each(configs)('depositories of $environment are addresses of their family', ({ chains }) => {
    for (const { vmType, additionalData, depository, additionalDepositories = [] } of chains.chains) {
      const codec = codecOf({ vmType, network: additionalData?.network })
      for (const address of [depository ?? '', ...additionalDepositories])
        expect(codec.canonicalAddress(address)).toBe(address)
    }
  })

  test.each(configs)(
    'currencies of $environment are written as their family writes them',
    ({ chains, quote }) => {
      for (const { id, vmType } of chains.chains) {
        const codec = codecOf(mainNetwork(vmType))
        for (const { address } of quote.chains[id]?.currencies ?? [])
          expect(codec.canonicalAddress(address)).toBe(address)
      }
    },
  )
})
