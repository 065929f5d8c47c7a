import { element } from './dom.js';
export function evaluationPart(part) {
  return element('section.card', {}, element('h2', {}, part.name));
}
