import pg from 'pg'

const int8Oid = 20
const numericOid = 1700
const int8ArrayOid = 1016
const numericArrayOid = 1231
const textArrayOid: number = 1009

type TextParser = (text: string) => unknown

const parseTextArray: TextParser = pg.types.getTypeParser(textArrayOid, 'text')

/**
 * Column types as this project reads them: `int8` and `numeric` are `bigint`, never a rounded
 * number or a string. A fraction in a numeric column throws: money has none.
 */
export const typeParsers = {
  getTypeParser(oid: number, format?: 'text' | 'binary'): TextParser {
    if (format === 'binary') return pg.types.getTypeParser(oid, 'binary')
    if (oid === int8Oid || oid === numericOid) return parseInteger
    if (oid === int8ArrayOid || oid === numericArrayOid) return parseIntegerArray
    return pg.types.getTypeParser(oid, 'text')
  },
}

function parseInteger(text: string): bigint {
  if (!/^-?[0-9]+$/.test(text)) throw new RangeError('a numeric column holds something other than an integer')
  return BigInt(text)
}

function parseIntegerArray(text: string): unknown {
  const parsed = parseTextArray(text)
  return Array.isArray(parsed) ? parsed.map(toInteger) : parsed
}

function toInteger(item: unknown): unknown {
  if (Array.isArray(item)) return item.map(toInteger)
  return typeof item === 'string' ? parseInteger(item) : item
}
