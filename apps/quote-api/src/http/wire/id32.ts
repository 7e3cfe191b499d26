import { bytes32Text, type Hex } from '@causeway/core'

/** 32 bytes in hex of either case, read as lower case: how ids are stored and compared. */
export const id32 = bytes32Text.transform((hex): Hex => `0x${hex.slice(2).toLowerCase()}`)
