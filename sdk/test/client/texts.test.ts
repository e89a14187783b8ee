import { describe, expect, test } from 'vitest'
import { type Texts, textsOf } from '../../src/client/chat/texts.js'

const en = textsOf('en')
const es = textsOf('es')
const names = Object.keys(en) as (keyof Texts)[]

/** A text with something in each of its places. */
function written(texts: Texts, name: keyof Texts): string {
  const found = texts[name] as string | ((...values: string[]) => string) | object
  if (typeof found === 'function') {
    return found('«one»', '«two»', '«three»')
  }
  return typeof found === 'string' ? found : JSON.stringify(found)
}

describe('the texts', () => {
  test('are the same ones in English and in Spanish', () => {
    expect(Object.keys(es).sort()).toEqual([...names].sort())
    expect(Object.keys(es.outcomes)).toEqual(Object.keys(en.outcomes))
    expect(Object.keys(es.decided)).toEqual(Object.keys(en.decided))
  })

  test.each(names.filter((name) => !['platform', 'chat'].includes(name)))(
    'are translated, with the same values in them: %s',
    (name) => {
      const values = (text: string) => (text.match(/«(one|two|three)»/g) ?? []).sort()

      expect(written(en, name)).not.toBe('')
      expect(written(es, name)).not.toBe('')
      expect(values(written(es, name))).toEqual(values(written(en, name)))
    },
  )

  test.each([
    'DELETES',
    'SETS SOMETHING OFF',
    'ADDS OR CHANGES DATA',
    'CHANGES DATA',
    'READS',
    'NEEDS YOU',
    'can be put right',
    'may be hard to put right',
    'cannot be undone',
    'the app asks you to choose',
  ])("have the platform's words about a call in Spanish: %s", (words) => {
    expect(en.platform(words)).toBe(words)
    expect(es.platform(words)).not.toBe(words)
  })

  test.each([
    ['es-MX', es],
    ['ES', es],
    ['en-GB', en],
    ['fr', en],
    ['', en],
  ])('of %s are those of its language, else English', (locale, texts) => {
    expect(textsOf(locale)).toEqual(texts)
  })

  test('can be replaced one by one', () => {
    expect(textsOf('es', { send: 'Mandar' })).toEqual({ ...es, send: 'Mandar' })
  })
})
