// Goal: an upgrade from an earlier release finds its contracts as they are known. Method: the creation code of 0.2.0's
// fill contract, whose address on every chain is a hash of it.
import { readFile } from 'node:fs/promises'
import { type Hex, hexToBytes, keccak256Hex } from '@causeway/core'
import { create2Address } from '@causeway/families/rules'
import { beforeAll, describe, expect, test } from 'vitest'
import { shippedCodes } from './codes.generated.ts'
import { codeStateOf, create2Proxy, deploymentSalt, isKnownCode, recordsPayments } from './codes.ts'
import { earlierCodes } from './earlierCodes.ts'
import { deployedNames } from './renderCodes.ts'

let creationCode: Hex
let code: Hex
beforeAll(async () => {
  const text = await readFile(new URL('../test/fixtures/fillContract-0.2.0.hex', import.meta.url), 'utf8')
  // CAST: the file is hex, or what is made of it has no known hash.
  creationCode = text.trim() as Hex
  // Behind its constructor, before the clone's creation code.
  const [start, length] = [0x74, 0x14f5]
  code = `0x${creationCode.slice(2 + 2 * start, 2 + 2 * (start + length))}`
})

describe('the fill contract of 0.2.0', () => {
  test('is the one at the address that its configuration names for the main networks', () => {
    const salt = hexToBytes(deploymentSalt('mainnets.prod'))
    expect(create2Address(create2Proxy, salt, keccak256Hex(hexToBytes(creationCode)))).toBe(
      '0xe3ec4736e5607b53069f7ce6094de3a3897f694b',
    )
  })

  test('P-62: is known, and what it recorded is proof of a payment', () => {
    expect(codeStateOf('FillContract', code)).toBe('earlier')
    expect([isKnownCode('FillContract', code), recordsPayments(code)]).toEqual([true, true])
  })

  test('P-62: is not believed under another name, or with a byte changed', () => {
    expect(isKnownCode('Depository', code)).toBe(false)
    expect(recordsPayments(`0x${code.slice(2).replace('6080', '6081')}`)).toBe(false)
  })
})

test('P-62: an earlier code is of a contract that is deployed, once, and differs from this release’s', () => {
  const names = earlierCodes.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(deployedNames).toEqual(expect.arrayContaining(names))
  for (const { name, codeHash } of earlierCodes) expect(codeHash).not.toBe(shippedCodes[name].codeHash)
})
