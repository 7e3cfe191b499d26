import { type Hex, hexToBytes, keccak256Hex } from '@causeway/core'

export const textHash = (text: string): Hex => keccak256Hex(new TextEncoder().encode(text))
export const hashOf = (bytes: Hex): Hex => keccak256Hex(hexToBytes(bytes))
