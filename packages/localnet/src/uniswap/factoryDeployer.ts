import type { Hex } from '@causeway/core'
import { concatHex, getContractAddress, numberToHex, size } from 'viem'
import { create2Address, lowerCase } from './create2.ts'

const creatorBytes = 63

/**
 * Creation code that makes a Uniswap V3 factory and enables the 0.01 % fee in the same transaction.
 *
 * The factory gives its owner's rights to whoever creates it, and only the owner may enable a fee.
 * Sent straight to the CREATE2 proxy, the proxy would own it and nobody could. So a small creator
 * goes through the proxy instead: its constructor CREATEs the factory whose code follows its own,
 * calls `enableFeeAmount(100, 1)` as the owner, reverts when either fails, and leaves no code behind.
 * No key ever owns the factory: its fees are fixed from then on.
 */
export function factoryCreatorCode(factoryInitCode: Hex): Hex {
  const creator = concatHex([
    '0x62', // PUSH3 length of the factory's creation code
    numberToHex(size(factoryInitCode), { size: 3 }),
    '0x8060', // DUP1, PUSH1 where it starts
    numberToHex(creatorBytes, { size: 1 }),
    '0x600039', // PUSH1 0, CODECOPY
    '0x60006000f0', // PUSH1 0, PUSH1 0, CREATE: leaves the factory's address
    '0x638a7c195f60e01b600052', // selector of enableFeeAmount(uint24,int24) to memory 0
    '0x6064600452', // fee 100 to memory 4
    '0x6001602452', // tick spacing 1 to memory 36
    '0x60006000604460006000', // return nothing; 68 bytes from memory 0; no value
    '0x855af1', // DUP6 (the factory), GAS, CALL
    // MUL of address and success is zero when either failed: with too little gas CREATE gives 0, and
    // a call to address 0 succeeds, which would make gas estimation settle on too little.
    '0x02',
    '0x603957600080fd', // PUSH1 57, JUMPI, PUSH1 0, DUP1, REVERT
    '0x5b60006000f3', // JUMPDEST (57), PUSH1 0, PUSH1 0, RETURN
  ])
  if (size(creator) !== creatorBytes) throw new RangeError('the creator has another length than it says')
  return concatHex([creator, factoryInitCode])
}

/** The factory is the first contract its creator makes. */
export function factoryAddress(factoryInitCode: Hex): Hex {
  return lowerCase(
    getContractAddress({ from: create2Address(factoryCreatorCode(factoryInitCode)), nonce: 1n }),
  )
}
