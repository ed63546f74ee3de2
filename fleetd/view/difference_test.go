package view

import (
	"reflect"
	"testing"
)

// A field that belongs to no group would change on no page.
func TestEveryFieldOfARowBelongsToAGroup(t *testing.T) {
	var each func(path string, a, b reflect.Value, differ func() Fields)
	each = func(path string, a, b reflect.Value, differ func() Fields) {
		for i := range b.NumField() {
			name, field := path+b.Type().Field(i).Name, b.Field(i)
			was := reflect.ValueOf(field.Interface())
			switch field.Kind() {
			case reflect.Struct:
				each(name+".", a.Field(i), field, differ)
				continue
			case reflect.Pointer:
				field.Set(reflect.New(field.Type().Elem()))
			case reflect.Slice:
				field.Set(reflect.MakeSlice(field.Type(), 1, 1))
			case reflect.Map:
				field.Set(reflect.MakeMap(field.Type()))
				field.SetMapIndex(reflect.ValueOf("floor"), reflect.ValueOf("1"))
			case reflect.String:
				field.SetString("other")
			case reflect.Bool:
				field.SetBool(true)
			case reflect.Int, reflect.Int64:
				field.SetInt(7)
			default:
				t.Fatalf("%s is a %v, which this test cannot change", name, field.Kind())
			}
			if differ() == 0 {
				t.Errorf("%s changes and belongs to no group", name)
			}
			field.Set(was)
		}
	}
	var a, b Robot
	each("", reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem(), func() Fields { return difference(&a, &b) })
}
